module coevo/inside

go 1.21
