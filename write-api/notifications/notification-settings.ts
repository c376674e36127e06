import type { FastifyRequest } from 'fastify'
import { notificationsDecider } from '#domain/notifications/decide.ts'
import { type NotificationSettings, notificationsStream } from '#domain/notifications/events.ts'
import type { Sealed } from '#domain/shared/event.ts'
import { fromWire, toWire } from '#domain/shared/quota.ts'
import type { AnyStep } from '#infra/event-store/stream-actors-port.ts'
import { isHeaderText, webhookAddress } from '#infra/outbound/webhook-checks.ts'
import type { UpdateSettings } from '#write-api/contract/users.ts'
import type { Deps } from '../action.ts'
import { mailAddressOf } from '../mail/mail-address.ts'
import { verifyMailCode } from '../mail/mail-codes.ts'
import { loginError } from '../sessions/login-errors.ts'
import { findMailOwner } from '../users/bind-identity.ts'
import { notificationError } from './notification-errors.ts'

export type SettingsChange = {
  readonly step: AnyStep
  /**
   * The webhook secret that must be deleted: `ifDone` after the step succeeded, `ifRejected` after
   * it was rejected.
   */
  readonly obsoleteSecret: { readonly ifDone: string | null; readonly ifRejected: string | null }
}

/**
 * Builds the step that changes a user's notification settings. Settings that the request lacks are
 * unchanged. The caller must serialize the calls for one user.
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
  // The secret is stored after everything that can fail, so that a rejected request stores no
  // secret.
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

/** A text in a request: undefined keeps the stored value, and an empty text removes it. */
type OptionalText = string | undefined

/**
 * Throws when a webhook address is never allowed. Each call of the webhook checks the address
 * again.
 */
function parseWebhook(text: OptionalText): OptionalText {
  const trimmed = text?.trim()
  if (trimmed === undefined || trimmed === '') return trimmed
  const address = webhookAddress(trimmed)
  if (address === null) throw notificationError('WebhookUrlInvalid')
  return address.href
}

/**
 * Trims the webhook secret. The secret is sent in an HTTP header, so it must contain only printable
 * ASCII characters.
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
 * Checks a new address for notifications, so that the site cannot send mail to strangers. The
 * address must be bound to the user or be verified with its code. The code is consumed even if the
 * request is rejected later.
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
 * Encrypts a text only when it differs from the stored text, so that a repeated request changes
 * nothing.
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
 * Stores a new webhook secret and returns its reference. An empty text keeps the stored secret,
 * because forms never contain a stored secret. null removes the secret.
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
