package coevo.builder;

final class Compilation {
    Compilation(Request request) {}

    Response run() {
        return Response.of("todo");
    }
}
