def code(number):
    return 'L' + str(number)
