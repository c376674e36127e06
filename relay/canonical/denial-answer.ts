/** Which kind of error a client library makes of it. */
export type DenialType =
  | 'invalid_request_error'
  | 'authentication_error'
  | 'permission_error'
  | 'insufficient_quota'
  | 'rate_limit_error'
  | 'upstream_error'
  | 'server_error'

export type Answer = {
  readonly status: number
  readonly type: DenialType
  /** `{param}` and `{subject}` are filled in. */
  readonly en: string
  readonly zh: string
}

export const answer = (status: number, type: DenialType, en: string, zh: string): Answer => ({
  status,
  type,
  en,
  zh,
})
