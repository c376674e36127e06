import { providerErrorCode } from '#relay/dialects/openai-chat/error-body.ts'
import type { AttemptEnd } from './call-upstream.ts'

const CODES = new Set([
  'account_deactivated',
  'billing_hard_limit_reached',
  'billing_not_active',
  'insufficient_quota',
  'invalid_api_key',
])

/**
 * Returns a code when the provider rejects our key or account; null otherwise. Only the status and
 * structured codes decide, because the text of an error may echo a prompt.
 */
export function accountErrorOf({
  error,
  status,
  body,
}: Extract<AttemptEnd, { readonly kind: 'failed' }>): string | null {
  if (error !== 'status' || status === null || status < 400) return null
  const code = accountCodeIn(body)
  if (code !== null) return code
  return status === 401 || status === 402 || status === 403 ? `status-${status}` : null
}

/** The same of an error alone, such as a stream may bring under a status of 200. */
export function accountCodeIn(error: Buffer): string | null {
  const code = providerErrorCode(error)
  return code !== null && CODES.has(code) ? code : null
}
