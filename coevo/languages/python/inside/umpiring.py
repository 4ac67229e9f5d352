"""Report the outcomes of a run of pytest that the project's settings alone decide.

The plugin selects nothing, orders nothing and adds nothing. What it reports is compared with the
engine's outcomes; nothing else depends on it.
"""

_WORST = ('compile_error', 'error', 'fail', 'skipped', 'pass')


def make_project_run_plugin(plugin, request, teller, pytest):
    """Return the plugin for a session in which the project's settings decide what runs.

    plugin  the class of the plugin for the engine's runs
    """

    class Umpire(plugin):
        """A plugin that reports the worst outcome of each item, by file, class and function."""

        def pytest_pycollect_makeitem(self, collector, name, obj):
            """Leave the collection to pytest."""
            return

        def pytest_collection_modifyitems(self, session, config, items):
            """Leave selection and order to the project; note the last item that is awaited."""
            yield
            self.last = None
            targets = set(map(tuple, request['awaited']))
            if targets:
                awaited = [item for item in items if self.origins.find_identity(item) in targets]
                if awaited:
                    self.last = awaited[-1]
                else:
                    items.clear()

        def pytest_runtest_protocol(self, item, nextitem):
            """Report the worst outcome of an item after all of its phases."""
            self.outcomes, self.phases = [], set()
            yield
            if item is self.last:
                item.session.shouldstop = 'all awaited tests have run'
            identity = self.origins.find_identity(item)
            if identity is None or not self.outcomes:
                return
            outcome = min((each for each, _ in self.outcomes), key=_WORST.index)
            file, owner, name = identity
            self.tell(
                {'e': 'ruling', 'file': file, 'owner': owner, 'name': name, 'outcome': outcome}
            )

    hooks = pytest.hookimpl(hookwrapper=True, tryfirst=True)
    hooks(Umpire.pytest_collection_modifyitems)
    hooks(Umpire.pytest_runtest_protocol)
    return Umpire(request, teller, pytest)
