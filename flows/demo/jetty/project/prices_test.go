package jetty

const price = 5
