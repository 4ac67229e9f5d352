def label(row, column):
    return f'{row}{column}'


def at_the_window(column):
    return column == 'A'
