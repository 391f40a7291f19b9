"""What holds for every test: how long an example may take says nothing on a machine that others use too."""

from hypothesis import HealthCheck, settings

settings.register_profile("flowproof", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("flowproof")
