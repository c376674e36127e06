import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type {
  QuotaDeducted,
  QuotaGranted,
  TokenBudgetSet,
  TokenBudgetsOpened,
} from '#domain/accounts/events.ts'
import type {
  AuditJobEvent,
  DataExported,
  LogKeyRotated,
  RefusalAcknowledged,
  WitnessRefused,
} from '#domain/audit/events.ts'
import type { CircuitClosed } from '#domain/channel-health/events.ts'
import type { ChannelEvent, ChannelTerms, TagChange } from '#domain/channels/events.ts'
import type { CorrectionEvent } from '#domain/corrections/events.ts'
import type { MessageEvent } from '#domain/messages/events.ts'
import { OPTIONS_VERSIONS, type OptionsEvent, upcastOption } from '#domain/options/events.ts'
import {
  amountOf,
  amountText,
  type ProviderInvoiceEvent,
} from '#domain/provider-invoices/events.ts'
import type { CodeRedeemed, RedemptionEvent } from '#domain/redemptions/events.ts'
import type { SiteEvent } from '#domain/setup/events.ts'
import { TOKEN_VERSIONS, type TokenEvent, type TokenTerms } from '#domain/tokens/events.ts'
import type { TopUpEvent } from '#domain/top-ups/events.ts'
import { type Handlers, projectionOf } from '../projection.ts'
import { logAct } from './log-acts-of-events.ts'
import { type UserActEvent, userActHandlers } from './user-act-handlers.ts'
import { addressWithoutSecrets, fingerprintOf, optionValues } from './values-in-audit-log.ts'

type LoggedEvent =
  | AuditJobEvent
  | ChannelEvent
  | CircuitClosed
  | CorrectionEvent
  | DataExported
  | ProviderInvoiceEvent
  | Exclude<RedemptionEvent, CodeRedeemed>
  | MessageEvent
  | OptionsEvent
  | QuotaDeducted
  | QuotaGranted
  | SiteEvent
  | TokenBudgetSet
  | TokenBudgetsOpened
  | TokenEvent
  | TopUpEvent
  | UserActEvent

function tokenHandlers(): Handlers<TokenEvent | TokenBudgetSet | TokenBudgetsOpened> {
  const tokens = (after: object) =>
    logAct<Extract<TokenEvent, { data: { tokenIds: readonly number[] } }>>(({ data }) => ({
      ...{ kind: 'token', ids: data.tokenIds, after },
    }))
  return {
    TokensCreated: logAct(({ data }) => ({
      ...{ kind: 'token', ids: data.tokens.map(({ tokenId }) => tokenId) },
      after: { user_id: data.userId, status: 1, ...termsOfToken(data.terms) },
    })),
    TokenTermsChanged: logAct(({ data }) => ({
      ...{ kind: 'token', ids: [data.tokenId], after: termsOfToken(data.terms) },
    })),
    TokensEnabled: tokens({ status: 1 }),
    TokensDisabled: tokens({ status: 2 }),
    TokensDeleted: tokens({ status: 'deleted' }),
    TokenBudgetSet: logAct(({ data: { tokenId, remain, isUnlimited } }) => ({
      ...{ kind: 'token', ids: [tokenId], after: { quota: remain, is_unlimited: isUnlimited } },
    })),
    TokenBudgetsOpened: logAct(({ data: { tokenIds, remain, isUnlimited } }) => ({
      ...{ kind: 'token', ids: tokenIds, after: { quota: remain, is_unlimited: isUnlimited } },
    })),
  }
}

const termsOfToken = (terms: Omit<TokenTerms, 'name'>) => ({
  ...{ expires_at: terms.expiresAt, group: terms.group, models: terms.models },
  allow_ips: terms.allowIps === null ? null : fingerprintOf(terms.allowIps),
  rate_limit: terms.rateLimit,
  tokens_per_minute: terms.tokensPerMinute,
  max_concurrency: terms.maxConcurrency,
})

function channelHandlers(): Handlers<ChannelEvent | CircuitClosed> {
  const channels = (after: object) =>
    logAct<Extract<ChannelEvent, { data: { channelIds: readonly number[] } }>>(({ data }) => ({
      ...{ kind: 'channel', ids: data.channelIds, after },
    }))
  return {
    ChannelsCreated: logAct(({ data: { terms, channels: created, isEnabled, keyMode } }) => ({
      ...{ kind: 'channel', ids: created.map(({ channelId }) => channelId) },
      after: { ...termsOfChannel(terms), key_mode: keyMode, status: isEnabled ? 1 : 2 },
    })),
    ChannelTermsChanged: logAct(
      ({ data: { channelId, terms, keyMode, keyRefs, droppedKeyRefs } }) => ({
        ...{ kind: 'channel', ids: [channelId] },
        after: {
          ...{ ...termsOfChannel(terms), key_mode: keyMode },
          ...{ keys: keyRefs.length, removed_keys: droppedKeyRefs.length },
        },
      }),
    ),
    ChannelsEnabled: channels({ status: 1 }),
    ChannelsDisabled: channels({ status: 2 }),
    ChannelAutoDisabled: logAct(({ data: { channelId, reason } }) => ({
      ...{ kind: 'channel', ids: [channelId], after: { status: 3, reason } },
    })),
    ChannelsDeleted: channels({ status: 'deleted' }),
    ChannelsTagged: logAct(({ data: { channelIds, tag } }) => ({
      ...{ kind: 'channel', ids: channelIds, after: { tag } },
    })),
    TagTermsChanged: logAct(({ data: { channelIds, change } }) => ({
      ...{ kind: 'channel', ids: channelIds, after: termsOfChannel(change) },
    })),
    ChannelKeySetAside: logAct(({ data: { channelId, reason } }) => ({
      ...{ kind: 'channel', ids: [channelId], after: { key: 'set aside', reason } },
    })),
    ChannelKeysTakenBack: logAct(({ data: { channelId } }) => ({
      ...{ kind: 'channel', ids: [channelId], after: { key: 'in use' } },
    })),
    // Only the closing of a circuit by an admin is an act. Circuits also close for other reasons,
    // for example after a probe.
    CircuitClosed: logAct(({ data: { channelId, model, reason } }) => ({
      ...{ kind: 'channel', ids: reason === 'admin' ? [channelId] : [], before: {} },
      after: { circuit: 'closed', model },
    })),
    ChannelAbilitiesFixed: logAct(() => ({ kind: 'site', ids: [''] })),
  }
}

/**
 * The fields of a channel that can contain a secret in an address or a header. The log shows only
 * fingerprints of these fields.
 */
const OPAQUE_TERMS: ReadonlySet<string> = new Set(['other', 'paramOverride', 'setting'])

function termsOfChannel(terms: Partial<ChannelTerms> | TagChange): Record<string, unknown> {
  const shown: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(terms)) {
    const key = name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
    if (name === 'proxyRef') shown.proxy = fingerprintOf(String(value))
    // The address shows where calls are sent. An auditor must be able to read it.
    else if (name === 'baseUrl') shown[key] = addressWithoutSecrets(String(value))
    else shown[key] = OPAQUE_TERMS.has(name) ? fingerprintOf(String(value)) : value
  }
  return shown
}

const SET = '***'
const shownSecret = (ref: string): string => (ref === '' ? '' : SET)

function siteHandlers(): Handlers<
  | AuditJobEvent
  | CorrectionEvent
  | DataExported
  | ProviderInvoiceEvent
  | MessageEvent
  | OptionsEvent
  | SiteEvent
> {
  type Other = LogKeyRotated | WitnessRefused | RefusalAcknowledged
  const job = logAct<Exclude<AuditJobEvent, Other>>(({ data }) => ({
    ...{ kind: 'job', ids: 'ids' in data ? data.ids : [data.id] },
    after: {
      ...('mode' in data ? { mode: data.mode } : {}),
      ...('findingCount' in data ? { findings: data.findingCount } : {}),
    },
  }))
  const plan = (status: string) =>
    logAct<Extract<OptionsEvent, { type: `PriceChange${string}` }>>(({ data }) => ({
      ...{ kind: 'price-change', ids: [data.id], after: { status } },
    }))
  return {
    OptionSet: logAct((event) => {
      const { key, before, value } = upcastOption(event).data
      return { kind: 'option', ids: [key], ...optionValues(before, value) }
    }),
    SecretOptionSet: logAct((event) => {
      const { key, before, secretRef } = upcastOption(event).data
      const earlier = { value: before === null ? null : shownSecret(before) }
      return {
        kind: 'option',
        ids: [key],
        before: earlier,
        after: { value: shownSecret(secretRef) },
      }
    }),
    PriceChangeScheduled: logAct(({ data: { id, at, changes } }) => ({
      ...{ kind: 'price-change', ids: [id] },
      after: { status: 'scheduled', at: Math.floor(at / 1_000), changes },
    })),
    PriceChangeCancelled: plan('cancelled'),
    PriceChangeApplied: plan('applied'),
    PriceChangeFailed: plan('failed'),
    SiteInitialized: logAct(({ data: { rootUserId } }) => ({
      ...{ kind: 'site', ids: [''], after: { root_user_id: rootUserId } },
    })),
    MessageSent: logAct(({ data: { messageId, total, format } }) => ({
      ...{ kind: 'message', ids: [messageId], after: { recipients: total, format } },
    })),
    MessageEdited: logAct(({ data: { messageId, format } }) => ({
      ...{ kind: 'message', ids: [messageId], after: { text: 'changed', format } },
    })),
    MessageDeleted: logAct(({ data: { messageId } }) => ({
      ...{ kind: 'message', ids: [messageId], after: { status: 'deleted' } },
    })),
    CorrectionStarted: logAct(({ data: { id, scope, planned, note, requestedBy } }) => ({
      ...{ kind: 'correction', ids: [id], note, noteUser: requestedBy },
      after: {
        ...{ model: scope.model, group: scope.group, from: scope.from, to: scope.to },
        ...{ price: scope.price, ...planned },
      },
    })),
    InvoiceImported: logAct(({ data }) => ({
      ...{ kind: 'invoice', ids: [data.invoiceId] },
      after: {
        ...{ channel_id: data.channelId, digest: data.digest, rows: data.rows },
        ...{
          currency: data.currency,
          dollars: data.dollars,
          amount: amountText(amountOf(data), data),
        },
      },
    })),
    InvoiceDeleted: logAct(({ data: { invoiceId } }) => ({
      ...{ kind: 'invoice', ids: [invoiceId], after: { status: 'deleted' } },
    })),
    CorrectionFinished: logAct(({ data }) => ({ kind: 'correction', ids: [data.id] })),
    VerificationRequested: job,
    VerificationFinished: job,
    RebuildRequested: logAct(({ data: { id, readModels } }) => ({
      ...{ kind: 'job', ids: [id], after: { read_models: readModels } },
    })),
    RebuildFinished: job,
    ScratchCopyRequested: logAct(({ data: { id, position } }) => ({
      ...{ kind: 'job', ids: [id], after: { position } },
    })),
    ScratchCopyBuilt: job,
    ScratchCopiesEnded: logAct(({ data: { ids, reason } }) => ({
      ...{ kind: 'job', ids, after: { reason } },
    })),
    AuditJobFailed: job,
    FindingsNotified: job,
    LogKeyRotated: logAct(({ data: { oldKey, newKey, treeSize } }) => ({
      ...{ kind: 'site', ids: [''], before: { log_key: oldKey } },
      after: { log_key: newKey, sealed_events: treeSize },
    })),
    WitnessRefused: logAct(({ data: { witness, size, reason, ...data } }) => ({
      ...{ kind: 'site', ids: [''] },
      after: { witness, reason, signed_events: size, ...refusedTree(data) },
    })),
    RefusalAcknowledged: logAct(({ data: { witness, size, note, acknowledgedBy, ...data } }) => ({
      ...{ kind: 'site', ids: [''], note, noteUser: acknowledgedBy },
      ...{ before: {}, after: { witness, signed_events: size, ...refusedTree(data) } },
    })),
    DataExported: logAct(({ data }) => exportOf(data)),
  }
}

/**
 * Returns the size and the root of the tree that a witness refused. Values that the event does not
 * contain are omitted.
 */
const refusedTree = (data: { readonly refusedSize?: number; readonly refusedRoot?: string }) => ({
  ...(data.refusedSize === undefined ? {} : { refused_events: data.refusedSize }),
  ...(data.refusedRoot === undefined ? {} : { refused_root: data.refusedRoot }),
})

function exportOf({ userId, invoiceId, ...data }: DataExported['data']) {
  const { exported, format, from, to, filters } = data
  const [kind, id] =
    invoiceId === undefined
      ? ([userId === null ? 'site' : 'user', userId ?? ''] as const)
      : (['invoice', invoiceId] as const)
  return { kind, ids: [id], before: {}, after: { exported, format, from, to, filters } }
}

function moneyHandlers(): Handlers<
  Exclude<RedemptionEvent, CodeRedeemed> | TopUpEvent | QuotaGranted | QuotaDeducted
> {
  const code = (after: object) =>
    logAct<Exclude<RedemptionEvent, CodeRedeemed>>(({ data }) => ({
      ...{ kind: 'redemption', ids: [data.redemptionId], after },
    }))
  const terms = logAct<Extract<RedemptionEvent, { data: { terms: object } }>>(({ data }) => {
    const { quota, isGift, maxUses, validFrom, validUntil } = data.terms
    const limits = { max_uses: maxUses, valid_from: validFrom, valid_until: validUntil }
    return {
      ...{ kind: 'redemption', ids: [data.redemptionId] },
      after: { quota, is_gift: isGift, ...limits },
    }
  })
  const order = logAct<TopUpEvent>(({ data }) => ({
    ...{ kind: 'order', ids: [data.orderId] },
    after: { user_id: data.userId, ...('money' in data ? { money: data.money } : {}) },
  }))
  const quota = logAct<QuotaGranted | QuotaDeducted>(({ type, data }) => {
    const { userId, reason, note, balanceAfter } = data
    const change = type === 'QuotaGranted' ? data.amount : -data.amount
    const isKnown = balanceAfter !== undefined
    return {
      ...{ kind: 'user', ids: reason === 'admin' ? [userId] : [], note, noteUser: userId },
      before: isKnown ? { quota: balanceAfter - change } : null,
      after: { ...(isKnown ? { quota: balanceAfter } : {}), amount: change },
    }
  })
  return {
    RedemptionCreated: terms,
    RedemptionTermsChanged: terms,
    RedemptionEnabled: code({ status: 1 }),
    RedemptionDisabled: code({ status: 2 }),
    RedemptionDeleted: code({ status: 'deleted' }),
    TopUpOrdered: order,
    TopUpPaid: order,
    TopUpRefunded: logAct(({ data: { orderId, userId, money, quota: taken, reason } }) => ({
      ...{ kind: 'order', ids: [orderId], note: reason, noteUser: userId },
      after: { user_id: userId, money, quota: -taken },
    })),
    TopUpRestored: order,
    TopUpRefundReported: order,
    TopUpDisputeReported: order,
    QuotaGranted: quota,
    QuotaDeducted: quota,
  }
}

/**
 * The administrative and security acts: who did what to which object, and what changed. An act has
 * the name of its event's type in kebab case. Secrets and personal texts are never recorded in
 * plain form. A text in which an admin may have typed a secret appears as a fingerprint.
 * Fingerprints show whether the text has changed.
 */
export const auditLog = projectionOf<LoggedEvent>({
  name: 'audit-log',
  version: 7,
  sql: readFileSync(join(import.meta.dirname, 'table.sql'), 'utf8'),
  tables: { acts: { key: ['position', 'object_kind', 'object_id'], isAppendOnly: true } },
  newest: { ...OPTIONS_VERSIONS, ...TOKEN_VERSIONS },
  handlers: {
    ...userActHandlers(),
    ...tokenHandlers(),
    ...channelHandlers(),
    ...siteHandlers(),
    ...moneyHandlers(),
  },
})
