import { objectOrEmpty, parsedObject, textOrEmpty } from '#relay/canonical/json-values.ts'
import { providerErrorCodes } from '#relay/canonical/read-provider-error-body.ts'
import type { AttemptEnd } from './attempt-end-types.ts'
import { isContentRejected } from './detect-refused-content-and-missing-models.ts'

/** The error codes about the site's key or account, and the names that providers give them. */
const NAMES: Readonly<Record<string, readonly string[]>> = {
  account_deactivated: [
    ...['CONSUMER_SUSPENDED', 'CONSUMER_INVALID', 'SERVICE_DISABLED'],
    // Zhipu: an account that is inactive, unknown or locked (docs.bigmodel.cn/cn/api/api-code).
    ...['1110', '1111', '1112', '1121'],
    // Groq answers with status 400.
    'organization_restricted',
  ],
  authentication_error: ['UNAUTHENTICATED'],
  billing_hard_limit_reached: [],
  billing_error: [],
  billing_not_active: ['BILLING_DISABLED', 'ACCOUNT_STATE_INVALID'],
  insufficient_quota: [
    ...['credit_balance_exhausted', 'organization_spend_limit_exceeded'],
    'project_spend_limit_exceeded',
    // DashScope answers an account in arrears with status 400, and Ark with 403.
    ...['Arrearage', 'PrepaidBillOverdue', 'PostpaidBillOverdue', 'CommodityNotPurchased'],
    ...['AccountOverdueError', 'OperationDenied.ServiceOverdue'],
    // These providers answer with status 429, as for a limit that resets after a while. Ark's code
    // means that the operator has limited the model, and Zhipu's 1309 that a plan has expired.
    ...['exceeded_current_quota_error', 'SetLimitExceeded', '1113', '1309'],
    // FastGPT may answer with status 200 or 500.
    'insufficientQuota',
  ],
  // Google answers an invalid key with status 400.
  invalid_api_key: [
    ...['API_KEY_INVALID', 'API_KEY_EXPIRED', 'API_KEY_SERVICE_BLOCKED'],
    ...['API_KEY_IP_ADDRESS_BLOCKED', 'API_KEY_HTTP_REFERRER_BLOCKED'],
    'unAuthApiKey',
  ],
  // AWS answers 403 both to wrong credentials and to a model that the account may not use.
  ExpiredTokenException: [],
  InvalidClientTokenId: [],
  InvalidSignatureException: [],
  UnrecognizedClientException: [],
}
const CODES: ReadonlyMap<string, string> = new Map(
  Object.entries(NAMES).flatMap(([code, names]) =>
    [code, ...names].map((name) => [name, code] as const),
  ),
)

/** The result of `accountErrorOf` for status 403 without a known code. */
export const STATUS_FORBIDDEN = 'status-403'

/**
 * The beginnings of the messages with which Anthropic and xAI refuse the account, and the statuses
 * of these errors. Anthropic's code is `invalid_request_error`, as for a fault of the request, and
 * xAI's is a sentence about the status.
 */
const ANTHROPIC_MESSAGES = [
  [400, /^Your credit balance is too low to access the Anthropic API/, 'insufficient_quota'],
  [400, /^You have reached your specified API usage limits/, 'billing_hard_limit_reached'],
  [400, /^This organization has been disabled/, 'account_deactivated'],
] as const
const XAI_MESSAGES = [
  [400, /^Incorrect API key provided/, 'invalid_api_key'],
  [429, /^Your team [\da-f-]{36} has either used all available credits/, 'insufficient_quota'],
] as const

/**
 * Returns an error code if the provider rejected the site's key or account, also if it did so in an
 * answer with a success status; otherwise null. A message may repeat a caller's prompt, so only the
 * fixed beginnings of messages are read, with the statuses and in the formats of the vendors whose
 * codes say nothing about the account.
 */
export function accountErrorOf({
  error,
  status,
  body,
}: Extract<AttemptEnd, { readonly kind: 'failed' }>): string | null {
  if (error === 'error-event') return accountCodeIn(body)
  if (error !== 'status' || status === null || status < 400) return null
  const code = accountCodeIn(body) ?? accountCodeOfMessage(status, body)
  if (code !== null) return code
  if (isContentRejected({ error, status, body })) return null
  return status === 401 || status === 402 || status === 403 ? `status-${status}` : null
}

/**
 * Returns the code of a provider's error about the site's account; null for any other error. A
 * stream with status 200 can also end with an account error.
 */
export function accountCodeIn(error: Buffer): string | null {
  for (const name of providerErrorCodes(error)) {
    const code = CODES.get(name)
    if (code !== undefined) return code
  }
  return null
}

/** Returns the code for a message of Anthropic or xAI about the site's account, or null. */
function accountCodeOfMessage(status: number, body: Buffer): string | null {
  const { type, code, error } = objectOrEmpty(parsedObject(body))
  const isXai = typeof error === 'string' && typeof code === 'string'
  const { type: innerType, message } = objectOrEmpty(error)
  const isAnthropic = type === 'error' && innerType === 'invalid_request_error'
  const text = isXai ? error : isAnthropic ? textOrEmpty(message) : ''
  const messages = isXai ? XAI_MESSAGES : ANTHROPIC_MESSAGES
  return messages.find(([of, start]) => of === status && start.test(text))?.[2] ?? null
}
