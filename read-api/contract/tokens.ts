import Type, { type Static } from 'typebox'

/** What calls and the clock change, as the live socket tells it. */
export const TokenState = Type.Object({
  id: Type.Integer(),
  name: Type.String(),
  /** 1 enabled, 2 disabled, 3 expired, 4 exhausted. */
  status: Type.Integer(),
  remain_quota: Type.Integer(),
  used_quota: Type.Integer(),
  unlimited_quota: Type.Boolean(),
  expired_time: Type.Integer(),
  accessed_time: Type.Integer(),
})
export type TokenState = Static<typeof TokenState>

export const Token = Type.Object({
  id: Type.Integer(),
  user_id: Type.Integer(),
  name: Type.String(),
  key: Type.String({
    description:
      'The key itself, without sk-, to a session of its owner alone; by an access token, stars ' +
      'and its last four characters.',
  }),
  /** 1 enabled, 2 disabled, 3 expired, 4 exhausted. */
  status: Type.Integer(),
  remain_quota: Type.Integer(),
  used_quota: Type.Integer(),
  unlimited_quota: Type.Boolean(),
  /** Unix seconds; -1 never. */
  expired_time: Type.Integer(),
  created_time: Type.Integer(),
  /** Unix seconds of the last call; 0 never. */
  accessed_time: Type.Integer(),
  rate_limit_enabled: Type.Boolean(),
  rate_limit_period: Type.Integer(),
  rate_limit_count: Type.Integer(),
  rate_limit_success: Type.Integer(),
  /** 0 no limit, as `max_concurrency`. */
  rate_limit_tpm: Type.Integer(),
  max_concurrency: Type.Integer(),
  model_limits_enabled: Type.Boolean(),
  /** Comma-separated. */
  model_limits: Type.String(),
  /** One per line. */
  allow_ips: Type.String(),
  group: Type.String(),
})
export type Token = Static<typeof Token>
