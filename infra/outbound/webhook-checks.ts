import { checkUrl, userPolicy } from './outbound-policy.ts'

/** Header values may contain only printable ASCII. */
export const isHeaderText = (text: string): boolean => /^[\x20-\x7e]*$/.test(text)

/** Returns the URL of a user's webhook; null unless it is https and its address is allowed. */
export function webhookAddress(url: string): URL | null {
  const checked = checkUrl(url, userPolicy)
  return checked.isAllowed && checked.url.protocol === 'https:' ? checked.url : null
}

export type WebhookErrorCode = 'url' | 'secret'

/**
 * Returns which part of a stored webhook makes sending impossible under the current rules; null
 * when sending is possible. `secret` is null for a webhook without a secret, and undefined when the
 * secret is no longer stored.
 */
export function webhookErrorOf(
  url: string,
  secret: string | null | undefined,
): WebhookErrorCode | null {
  if (webhookAddress(url) === null) return 'url'
  return secret === null || (secret !== undefined && isHeaderText(secret)) ? null : 'secret'
}
