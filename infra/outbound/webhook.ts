import { checkUrl, userPolicy } from './guard.ts'

/** Header values may contain only printable ASCII. */
export const isHeaderText = (text: string): boolean => /^[\x20-\x7e]*$/.test(text)

/**
 * Returns the URL of a user's webhook if it is https and its address is allowed; otherwise null.
 */
export function webhookAddress(url: string): URL | null {
  const checked = checkUrl(url, userPolicy)
  return checked.isAllowed && checked.url.protocol === 'https:' ? checked.url : null
}

export type WebhookErrorCode = 'url' | 'secret'

/**
 * Returns which part of a stored webhook the current rules no longer allow to be sent; null if
 * none. `secret` is undefined when it is no longer stored, and null when there is none.
 */
export function webhookErrorOf(
  url: string,
  secret: string | null | undefined,
): WebhookErrorCode | null {
  if (webhookAddress(url) === null) return 'url'
  return secret === null || (secret !== undefined && isHeaderText(secret)) ? null : 'secret'
}
