import type { LogRow } from '#projections/call-log/query.ts'
import type { ReadDeps } from '../question.ts'

/** What a provider said of the failure of a call; for everybody, or for administrators alone. */
export type OpenedMessage = { readonly text: string; readonly isShown: boolean }

/** The messages of the rows whose call a provider failed, by request id. */
export async function messagesOf(
  { providerMessages, core }: Pick<ReadDeps, 'providerMessages' | 'core'>,
  rows: readonly LogRow[],
): Promise<ReadonlyMap<string, OpenedMessage>> {
  const failed = new Map(rows.filter(isFailed).map(({ requestId, userId }) => [requestId, userId]))
  const found = await providerMessages.find([...failed.keys()])
  const opened = new Map<string, OpenedMessage>()
  for (const [call, { message, isShown }] of found) {
    const text = await core.vault.open(failed.get(call) ?? 0, message)
    if (text !== null) opened.set(call, { text, isShown })
  }
  return opened
}

/** The member of `other` that holds the message, as JSON; `{}` where this viewer has none. */
export function messageFor(message: OpenedMessage | undefined, isAdmin: boolean): string {
  if (message === undefined || !(isAdmin || message.isShown)) return '{}'
  return JSON.stringify({ provider_message: message.text })
}

const isFailed = ({ reason, other }: LogRow): boolean =>
  reason.startsWith('released:') || other.includes('"end":"upstream-error"')
