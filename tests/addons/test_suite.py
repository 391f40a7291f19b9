from flowproof_addons.suite import Suite


def test_the_addons_that_see_a_request_are_those_that_see_its_answer() -> None:
    """mitmproxy asks for the list at every kind of event; what one hook noted the next one has to find."""
    suite = Suite()
    assert [id(addon) for addon in suite.addons] == [id(addon) for addon in suite.addons]
