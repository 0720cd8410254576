"""Models that embed queries."""
