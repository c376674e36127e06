import type { LogRow } from '#projections/logs/query.ts'
import type { ReadDeps } from '../read-route-helpers.ts'

/** A provider's message about a failed call. If `isShown` is false, only admins may see it. */
export type ProviderMessage = { readonly text: string; readonly isShown: boolean }

/** Returns the providers' messages about failed calls, by request id. */
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
 * Returns JSON with the provider's message, which becomes part of `other`. If the viewer may not
 * see the message, it is `{}`.
 */
export function messageFor(message: ProviderMessage | undefined, isAdmin: boolean): string {
  if (message === undefined || !(isAdmin || message.isShown)) return '{}'
  return JSON.stringify({ provider_message: message.text })
}

const isFailed = ({ reason, other }: LogRow): boolean =>
  reason.startsWith('released:') || other.includes('"end":"upstream-error"')
