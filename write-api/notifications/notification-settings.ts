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
  /** The secret to delete after the step was carried out, or after it was rejected. */
  readonly obsoleteSecret: { readonly ifDone: string | null; readonly ifRejected: string | null }
}

/**
 * Builds the step that changes how the user is notified. Settings that are left out stay unchanged.
 * Calls for one user must be serialised.
 */
export async function notificationsStep(
  { core }: Deps,
  request: FastifyRequest<{ readonly Body: UpdateSettings }>,
  userId: number,
): Promise<SettingsChange> {
  const changes = request.body
  const stream = notificationsStream(userId)
  const { settings: before } = await core.actors.stateOf(notificationsDecider, stream)
  const means = changes.notify_type ?? before.means
  const webhookUrl = await sealIfChanged(
    core,
    userId,
    before.webhookUrl,
    parseWebhook(changes.webhook_url),
  )
  if (means === 'webhook' && webhookUrl === null) throw notificationError('WebhookUrlInvalid')
  const secret = parseSecret(changes.webhook_secret)
  const address = parseAddress(changes.notification_email)
  const newThreshold = changes.quota_warning_threshold
  const threshold = newThreshold === undefined ? before.threshold : toWire(fromWire(newThreshold))
  const mailTo = await sealIfChanged(core, userId, before.mailTo, address)
  if (mailTo !== before.mailTo) await verifyAddress(core, request, userId, address)
  // Comes last of the steps that may fail, so that no secret is stored for a rejected request.
  const webhookSecretRef = await storeSecret(core, userId, before, secret)
  const isNewSecret = webhookSecretRef !== before.webhookSecretRef
  const settings = { means, mailTo, webhookUrl, threshold, webhookSecretRef }
  return {
    step: {
      decider: notificationsDecider,
      stream,
      command: { type: 'ChangeNotifications', userId, settings },
    },
    obsoleteSecret: {
      ifDone: isNewSecret ? before.webhookSecretRef : null,
      ifRejected: isNewSecret ? webhookSecretRef : null,
    },
  }
}

/** undefined keeps the value; an empty string removes it. */
type OptionalText = string | undefined

/** Rejects an address that could never be called; each call checks it again. */
function parseWebhook(text: OptionalText): OptionalText {
  const trimmed = text?.trim()
  if (trimmed === undefined || trimmed === '') return trimmed
  const address = webhookAddress(trimmed)
  if (address === null) throw notificationError('WebhookUrlInvalid')
  return address.href
}

/**
 * Trims the secret, which is sent in a header: other characters and surrounding blanks are not
 * allowed there.
 */
function parseSecret(text: OptionalText | null): OptionalText | null {
  const trimmed = text?.trim() ?? text
  if (typeof trimmed === 'string' && !isHeaderText(trimmed))
    throw notificationError('WebhookSecretInvalid')
  return trimmed
}

const parseAddress = (text: OptionalText): OptionalText =>
  text === undefined || text.trim() === '' ? text?.trim() : mailAddressOf(text)

/**
 * Prevents the site from writing to strangers: the address must be the bound one, which was
 * verified, or come with its code. The code is used up even if the rest of the request is rejected.
 */
async function verifyAddress(
  core: Deps['core'],
  request: FastifyRequest<{ readonly Body: UpdateSettings }>,
  userId: number,
  address: OptionalText,
): Promise<void> {
  if (address === undefined || address === '') return
  const owner = await findMailOwner(core, address)
  if (owner?.id === userId) return
  const { notification_code: code = '' } = request.body
  if (code.trim() === '') throw loginError('MailCodeRequired')
  const isRight = await verifyMailCode(core, request, `notify:${userId}`, { address, code })
  if (!isRight) throw loginError('MailCodeWrong')
}

/**
 * Seals the text only if it differs from the previous one, so that repeating it changes nothing.
 */
async function sealIfChanged(
  { vault }: Pick<Deps['core'], 'vault'>,
  userId: number,
  before: Sealed | null,
  text: OptionalText,
): Promise<Sealed | null> {
  if (text === undefined) return before
  if (text === '') return null
  if (before !== null && (await vault.open(userId, before)) === text) return before
  return vault.seal(userId, text)
}

/**
 * An empty string keeps the secret, because a secret is never shown and forms send it back empty.
 * null removes it.
 */
async function storeSecret(
  { vault }: Pick<Deps['core'], 'vault'>,
  userId: number,
  before: NotificationSettings,
  secret: string | null | undefined,
): Promise<string | null> {
  if (secret === null) return null
  if (secret === undefined || secret === '') return before.webhookSecretRef
  return vault.putSecret('webhook', `user:${userId}`, secret)
}
