import type { FastifyRequest } from 'fastify'
import { notificationsDecider } from '#domain/notifications/decide.ts'
import { type NotificationSettings, notificationsStream } from '#domain/notifications/events.ts'
import type { Sealed } from '#domain/shared/event.ts'
import { fromWire, toWire } from '#domain/shared/quota.ts'
import type { AnyStep } from '#infra/event-store/actors-port.ts'
import { isHeaderText, webhookAddress } from '#infra/outbound/webhook.ts'
import type { UpdateSettings } from '#write-api/contract/users.ts'
import type { Deps } from '../action.ts'
import { mailAddressOf } from '../mail/mail-address.ts'
import { verifyMailCode } from '../mail/mail-codes.ts'
import { loginError } from '../sessions/login-errors.ts'
import { findMailOwner } from '../users/bind-identity.ts'
import { notificationError } from './notification-errors.ts'

export type SettingsChange = {
  readonly step: AnyStep
  /** The secrets that are nobody's any more once the step was carried out, or was refused. */
  readonly leftOver: { readonly ifDone: string | null; readonly ifRefused: string | null }
}

/** How the user wants to be told, as a step; what is left out stays. One at a time per user. */
export async function notificationsChange(
  { core }: Deps,
  request: FastifyRequest<{ readonly Body: UpdateSettings }>,
  userId: number,
): Promise<SettingsChange> {
  const asked = request.body
  const stream = notificationsStream(userId)
  const { settings: before } = await core.actors.stateOf(notificationsDecider, stream)
  const means = asked.notify_type ?? before.means
  const webhookUrl = await textOf(core, userId, before.webhookUrl, webhookOf(asked.webhook_url))
  if (means === 'webhook' && webhookUrl === null) throw notificationError('WebhookUrlInvalid')
  const secret = secretOf(asked.webhook_secret)
  const address = addressOf(asked.notification_email)
  const asThreshold = asked.quota_warning_threshold
  const threshold = asThreshold === undefined ? before.threshold : toWire(fromWire(asThreshold))
  const mailTo = await textOf(core, userId, before.mailTo, address)
  if (mailTo !== before.mailTo) await proveAddress(core, request, userId, address)
  // The last that could fail: a secret is not kept for what was refused before.
  const webhookSecretRef = await secretRefOf(core, userId, before, secret)
  const isOther = webhookSecretRef !== before.webhookSecretRef
  const settings = { means, mailTo, webhookUrl, threshold, webhookSecretRef }
  return {
    step: {
      decider: notificationsDecider,
      stream,
      command: { type: 'ChangeNotifications', userId, settings },
    },
    leftOver: {
      ifDone: isOther ? before.webhookSecretRef : null,
      ifRefused: isOther ? webhookSecretRef : null,
    },
  }
}

/** undefined: as it was; empty: none. */
type Asked = string | undefined

/** An address that could never be called is refused at once; it is judged again at each call. */
function webhookOf(text: Asked): Asked {
  const given = text?.trim()
  if (given === undefined || given === '') return given
  const address = webhookAddress(given)
  if (address === null) throw notificationError('WebhookUrlInvalid')
  return address.href
}

/** What is kept is sent, and signs: a header takes no other letters, and no blanks around. */
function secretOf(text: Asked | null): Asked | null {
  const given = text?.trim() ?? text
  if (typeof given === 'string' && !isHeaderText(given))
    throw notificationError('WebhookSecretInvalid')
  return given
}

const addressOf = (text: Asked): Asked =>
  text === undefined || text.trim() === '' ? text?.trim() : mailAddressOf(text)

/**
 * Nobody has this site write to a stranger: the address is the one that is bound, which was proved,
 * or its code is shown. The code is used up, whatever else of the request is refused afterwards.
 */
async function proveAddress(
  core: Deps['core'],
  request: FastifyRequest<{ readonly Body: UpdateSettings }>,
  userId: number,
  address: Asked,
): Promise<void> {
  if (address === undefined || address === '') return
  const owner = await findMailOwner(core, address)
  if (owner?.id === userId) return
  const { notification_code: code = '' } = request.body
  if (code.trim() === '') throw loginError('MailCodeRequired')
  const isRight = await verifyMailCode(core, request, `notify:${userId}`, { address, code })
  if (!isRight) throw loginError('MailCodeWrong')
}

/** Sealed anew only where the text is another: the same one again changes nothing. */
async function textOf(
  { vault }: Pick<Deps['core'], 'vault'>,
  userId: number,
  before: Sealed | null,
  text: Asked,
): Promise<Sealed | null> {
  if (text === undefined) return before
  if (text === '') return null
  if (before !== null && (await vault.open(userId, before)) === text) return before
  return vault.seal(userId, text)
}

/** Empty as left out: a secret is never shown, so a form sends none back. null takes it away. */
async function secretRefOf(
  { vault }: Pick<Deps['core'], 'vault'>,
  userId: number,
  before: NotificationSettings,
  secret: string | null | undefined,
): Promise<string | null> {
  if (secret === null) return null
  if (secret === undefined || secret === '') return before.webhookSecretRef
  return vault.putSecret('webhook', `user:${userId}`, secret)
}
