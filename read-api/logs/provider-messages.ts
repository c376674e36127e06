import type { LogRow } from '#projections/logs/query.ts'
import type { ReadDeps } from '../read-route-helpers.ts'

/**
 * The error message of a provider about a failed call. If `isShown` is false, only admins may see
 * it.
 */
export type ProviderMessage = { readonly text: string; readonly isShown: boolean }

/** Returns the error messages of providers about failed calls, by the request id of the call. */
export async function messagesOf(
  { providerMessages, core }: Pick<ReadDeps, 'providerMessages' | 'core'>,
  rows: readonly LogRow[],
): Promise<ReadonlyMap<string, ProviderMessage>> {
  const failed = new Map(rows.filter(isFailed).map(({ requestId, userId }) => [requestId, userId]))
  const found = await providerMessages.find([...failed.keys()])
  const messages = new Map<string, ProviderMessage>()
  for (const [call, { message, isShown }] of found) {
    const text = await core.vault.open(failed.get(call) ?? 0, message)
    if (text !== null) messages.set(call, { text, isShown })
  }
  return messages
}

/**
 * Returns a JSON object with the provider's message, which is merged into `other` of the log row.
 * Returns `{}` if there is no message or the viewer may not see it.
 */
export function messageFor(message: ProviderMessage | undefined, isAdmin: boolean): string {
  if (message === undefined || !(isAdmin || message.isShown)) return '{}'
  return JSON.stringify({ provider_message: message.text })
}

const isFailed = ({ reason, other }: LogRow): boolean =>
  reason.startsWith('released:') || other.includes('"end":"upstream-error"')
