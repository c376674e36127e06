import { messageDecider } from '#domain/messages/decide.ts'
import {
  countOf,
  type IdRange,
  type MessageText,
  messageStream,
  rangesOf,
} from '#domain/messages/events.ts'
import { optionJson } from '#domain/options/option-registry.ts'
import { isName, isText } from '#domain/shared/check-characters.ts'
import { isSame } from '#domain/shared/deep-equal.ts'
import type { CommandContext } from '#infra/event-store/stream-actors-port.ts'
import { onlyAdmin } from '#infra/http/access-checks.ts'
import { endpoint } from '#infra/http/endpoint-of-contract.ts'
import { httpError, invalidField } from '#infra/http/http-error-class-and-catalogue.ts'
import { success } from '#infra/http/response-envelope.ts'
import type { Vault } from '#infra/vault/port.ts'
import { allOptions } from '#projections/options/query.ts'
import { selectedUserIds } from '#projections/users/query.ts'
import { MESSAGE_TERMS } from '#read-api/contract/message-fields.ts'
import { type Action, accepted, contextOf, type Deps, waitUntilVisible } from '../action.ts'
import { type CreateMessage, messageActions } from '../contract/messages.ts'
import { validationMessage } from '../error-messages-for-invalid-values.ts'
import { userMustExist } from '../users/user-must-exist.ts'
import { messageError } from './message-errors.ts'

const FRESH_WITHIN_MS = 2_000
const LISTED_IDS_MAX = 10
const RETRY_SECONDS = 5

/**
 * Returns the ids of all users who are to receive the message, as ranges. Throws if a group or a
 * user is unknown, or if a user is deleted.
 */
async function resolveRecipients(
  deps: Deps,
  { user_ids = [], groups = [], everybody = false }: CreateMessage,
): Promise<IdRange[]> {
  const { core, freshness } = deps
  // The read model must be up to date, because a message to all users must also reach users who
  // have just registered.
  const head = await core.store.headPosition()
  const isFresh = await freshness.waitFor(['users'], head, FRESH_WITHIN_MS)
  // Without this check, recipients could be missing from a message to a group or to all users, and
  // no one would notice.
  if (!isFresh && (everybody || groups.length > 0))
    throw httpError('Unavailable', {}, RETRY_SECONDS)
  await checkGroups(deps, groups)
  const selection = { isEverybody: everybody, groups, userIds: user_ids }
  const ids = await selectedUserIds(core.db, selection)
  const existing = new Set(ids)
  const unknown = user_ids.filter((id) => !existing.has(id))
  if (unknown.length > 0) {
    throw messageError('RecipientUnknown', { ids: unknown.slice(0, LISTED_IDS_MAX).join(', ') })
  }
  return rangesOf(ids)
}

/**
 * Throws if a group is unknown. A group that was removed from the settings still counts as known
 * while it has users.
 */
async function checkGroups({ core }: Deps, groups: readonly string[]): Promise<void> {
  if (groups.length === 0) return
  const { values } = await allOptions(core.db)
  const existing = optionJson(values, 'GroupRatio') as Readonly<Record<string, unknown>>
  for (const name of groups.filter((one) => !Object.hasOwn(existing, one))) {
    const users = await selectedUserIds(core.db, {
      isEverybody: false,
      groups: [name],
      userIds: [],
    })
    if (users.length > 0) continue
    throw invalidField('groups', {
      zh: `分组「${name}」不存在`,
      en: `the group “${name}” does not exist`,
    })
  }
}

export type MessageContent = { readonly title: string; readonly content: string }

/**
 * Returns the title and content without surrounding spaces. Throws if one of them is empty or
 * contains forbidden characters.
 */
export function validText(body: MessageContent): MessageContent {
  const [title, content] = [body.title.trim(), body.content.trim()]
  if (title === '') throw messageError('MessageTitleRequired')
  if (content === '') throw messageError('MessageContentRequired')
  for (const [field, isValid] of [
    ['title', isName(title)],
    ['content', isText(content)],
  ] as const) {
    if (!isValid) throw invalidField(field, validationMessage({ error: 'bad-character' }))
  }
  return { title, content }
}

const ownerOf = (messageId: number): string => `message:${messageId}`

/**
 * Returns the id of the message to which a text in the vault belongs. `owner` is the text's owner
 * in the vault.
 */
export const messageIdOf = (owner: string): number => Number(owner.slice('message:'.length))

export const storeText = (
  vault: Pick<Vault, 'putSecret'>,
  messageId: number,
  { title, content }: MessageContent,
): Promise<string> =>
  vault.putSecret('message', ownerOf(messageId), JSON.stringify({ title, content }))

type RecordedText = {
  readonly messageId: number
  readonly text: MessageText
  readonly content: MessageContent
}

/**
 * If the text of a message was deleted as unused before the message's event was recorded, stores
 * the text again and records the new reference. This happens if the process was suspended for over
 * an hour before the append. Without the text, all recipients would see an empty message. Returns
 * the position of the last event, or null if the text is still stored. Never throws, because the
 * message was already sent, and a sender who gets an error would send the message again.
 */
export async function restoreDeletedText(
  core: MessageStores,
  recorded: RecordedText,
  context: CommandContext,
): Promise<number | null> {
  try {
    return await storeDeletedText(core, recorded, context)
  } catch (err) {
    const { messageId } = recorded
    core.log.warn({ err, messageId }, 'it is unknown whether the text of a message is stored')
    return null
  }
}

type MessageStores = Pick<Deps['core'], 'actors' | 'vault' | 'log'>

async function storeDeletedText(
  { actors, vault }: Pick<MessageStores, 'actors' | 'vault'>,
  { messageId, text: { format, textRef: replacedRef }, content }: RecordedText,
  context: CommandContext,
): Promise<number | null> {
  if (await vault.hasSecret(replacedRef)) return null
  const textRef = await storeText(vault, messageId, content)
  const command = { type: 'EditMessage', messageId, format, textRef, replacedRef } as const
  const outcome = await actors.handle(messageDecider, messageStream(messageId), command, context)
  if (outcome.isDone && outcome.events.length > 0) {
    const text = { format, textRef }
    const later = await storeDeletedText({ actors, vault }, { messageId, text, content }, context)
    return later ?? outcome.position
  }
  // Another process has edited or deleted the message, and has deleted the text.
  await vault.deleteSecret(textRef)
  return null
}

/**
 * Stores the text in the vault unless the text is unchanged. Returns the vault reference of the
 * text.
 */
export async function storeTextIfChanged(
  vault: Pick<Vault, 'putSecret' | 'getSecrets'>,
  messageId: number,
  { textRef }: MessageText,
  text: MessageContent,
): Promise<string> {
  const owned = { owner: ownerOf(messageId), ref: textRef }
  const stored = (await vault.getSecrets('message', [owned])).get(textRef)
  const isUnchanged = stored !== undefined && isSame(JSON.parse(stored), text)
  return isUnchanged ? textRef : storeText(vault, messageId, text)
}

/** POST /api/admin/messages: sends a message. A single event records all recipients. */
export const sendMessage: Action = (api, deps) => {
  api.route({
    ...endpoint(messageActions, 'POST /api/admin/messages'),
    onRequest: onlyAdmin,
    handler: async (request, reply) => {
      const { actors, vault } = deps.core
      const text = validText(request.body)
      const { format = MESSAGE_TERMS.format.initial } = request.body
      const recipients = await resolveRecipients(deps, request.body)
      if (recipients.length === 0) throw messageError('RecipientRequired')
      const context = contextOf(deps, request)
      const total = countOf(recipients)
      // An erasure deletes the messages that were sent only to the erased user. Such a message must
      // therefore not be sent after the erasure.
      const mustExist = total === 1 ? recipients.map(([id]) => userMustExist(id)) : []
      const { id, outcome } = await deps.nextIds('message', async (messageId) => {
        const textRef = await storeText(vault, messageId, text)
        const command = { type: 'SendMessage', messageId, recipients, format, textRef } as const
        const step = { decider: messageDecider, stream: messageStream(messageId), command }
        const result = await actors.handleTogether([step, ...mustExist], context)
        if (!result.isDone) {
          await vault.deleteSecret(textRef)
          return result
        }
        const recorded = { messageId, text: { format, textRef }, content: text }
        const restoredAt = await restoreDeletedText(deps.core, recorded, context)
        return { ...result, position: restoredAt ?? result.position }
      })
      await waitUntilVisible(deps, reply, ['messages'], accepted(outcome).position)
      return success({ id, total_recipients: total })
    },
  })
}
