module example.org/jetty

go 1.21
