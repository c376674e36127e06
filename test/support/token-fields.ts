/** A new token without restrictions, as the API returns it. */
export const OPEN_TOKEN_FIELDS = {
  unlimited_quota: false,
  budget_version: 0,
  expired_time: -1,
  rate_limit_enabled: false,
  rate_limit_period: 60,
  rate_limit_count: 1000,
  rate_limit_success: 10,
  rate_limit_tpm: 0,
  max_concurrency: 0,
  model_limits_enabled: false,
  model_limits: '',
  allow_ips: '',
  group: '',
} as const
