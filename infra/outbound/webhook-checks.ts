import { checkUrl, userPolicy } from './outbound-policy.ts'

/** Returns true for printable ASCII, which a header value may contain. */
export const isHeaderText = (text: string): boolean => /^[\x20-\x7e]*$/.test(text)

/** Returns the URL of a user's webhook; null if it is not https or its address is not allowed. */
export function webhookAddress(url: string): URL | null {
  const checked = checkUrl(url, userPolicy)
  return checked.isAllowed && checked.url.protocol === 'https:' ? checked.url : null
}

export type WebhookErrorCode = 'url' | 'secret'

/**
 * Returns the invalid part of a stored webhook, or null if sending is possible. `secret` is null
 * for a webhook without a secret, and undefined if the secret is no longer stored.
 */
export function webhookErrorOf(
  url: string,
  secret: string | null | undefined,
): WebhookErrorCode | null {
  if (webhookAddress(url) === null) return 'url'
  return secret === null || (secret !== undefined && isHeaderText(secret)) ? null : 'secret'
}
