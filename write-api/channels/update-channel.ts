import { channelHealthDecider } from '#domain/channel-health/decide.ts'
import { channelHealthStream } from '#domain/channel-health/events.ts'
import { isExpired } from '#domain/channels/change-status-and-delete.ts'
import { hasSameTarget } from '#domain/channels/change-terms-and-keys.ts'
import type { ChangeTerms } from '#domain/channels/commands.ts'
import { channelsDecider } from '#domain/channels/decide.ts'
import { CHANNELS_STREAM, type ChannelEvent } from '#domain/channels/events.ts'
import { isSame } from '#domain/shared/deep-equal.ts'
import type { AnyStep, CommandContext } from '#infra/event-store/stream-actors-port.ts'
import { onlyAdmin } from '#infra/http/access-checks.ts'
import { checkAddress } from '#infra/http/check-channel-address-and-proxy.ts'
import { endpoint } from '#infra/http/endpoint-of-contract.ts'
import { invalidField } from '#infra/http/http-error-class-and-catalogue.ts'
import { languageOf } from '#infra/http/request-language.ts'
import { done } from '#infra/http/response-envelope.ts'
import { type ChannelRow, findChannel } from '#projections/channels/query.ts'
import type { UpdateChannel } from '#write-api/contract/channels.ts'
import { type Action, accepted, contextOf, type Deps, waitUntilVisible } from '../action.ts'
import { channelActions } from '../contract/channels.ts'
import { toHttpError } from '../domain-error-catalogue.ts'
import { deleteChannelSecrets } from './channel-keys-in-vault.ts'
import { settingChange, storeProxy } from './channel-proxy-in-vault.ts'
import {
  changeOf,
  checkExpiry,
  checkKeys,
  checkProxyIn,
  checkRequirements,
  checkType,
} from './channel-terms-from-request.ts'
import { checkGroups } from './check-channel-groups.ts'
import {
  assertNoUnfinishedWork,
  countUnfinishedWork,
  renewedKeyMessage,
  type UnfinishedWork,
  whileSubmissionsPaused,
} from './check-unfinished-work.ts'
import { repeatedKeysMessage } from './parse-channel-keys.ts'
import {
  type EnteredKeys,
  isRenewal,
  keptRefsOf,
  readEnteredKeys,
  type StoredKeys,
  storeEnteredKeys,
} from './read-and-store-entered-keys.ts'

/**
 * PUT /api/channel/: changes the fields in the request. Status 1 enables the channel, and 2
 * disables it. A change to status 3 is rejected, because only the gateway sets this status.
 */
export const updateChannel: Action = (api, deps) => {
  api.route({
    ...endpoint(channelActions, 'PUT /api/channel/'),
    onRequest: onlyAdmin,
    handler: async (request, reply) => {
      const { body } = request
      const { position, repeated, unfinished } = await deps.runExclusive(
        `channel-keys:${body.id}`,
        () => change(deps, withoutSameStatus(body), contextOf(deps, request)),
      )
      await waitUntilVisible(deps, reply, ['channels'], position)
      const messages = [repeatedKeysMessage(repeated), renewedKeyMessage(unfinished)]
      const language = languageOf(request)
      return done(
        messages
          .map((message) => message[language])
          .join(' ')
          .trim(),
      )
    },
  })
}

/**
 * Removes the status from the request if it equals `expected_status`. A client may send back a
 * complete row that was read before the gateway disabled the channel. Such a row must not enable
 * the channel again.
 */
const withoutSameStatus = ({ status, expected_status: expected, ...rest }: UpdateChannel) =>
  status === undefined || status === expected ? rest : { ...rest, status }

const REQUIREMENT_TERMS = ['type', 'groups', 'baseUrl', 'other', 'organization'] as const

type Written = { readonly position: number; readonly repeated: number }
type ChangeResult = Written & {
  /** The work that is continued with a new key in place of the only key. */
  readonly unfinished: UnfinishedWork
}

const NOTHING_UNFINISHED: UnfinishedWork = { tasks: 0, batches: 0 }

async function change(
  deps: Deps,
  fields: UpdateChannel,
  context: CommandContext,
): Promise<ChangeResult> {
  const { db } = deps.core
  const row = await findChannel(db, fields.id)
  if (row !== null) checkStatus(fields, row, context)
  const { proxy, isSameProxy, terms } = await changeWithProxy(deps, fields)
  // Only changed terms (settings) are checked. A channel can therefore be disabled even if its
  // address is no longer allowed.
  const { baseUrl, type, setting } = terms
  if (type !== undefined && type !== row?.terms.type) checkType(type, deps.servedTypes)
  if (row !== null && REQUIREMENT_TERMS.some((key) => key in terms)) {
    const next = { ...row.terms, ...terms }
    if (!isSame(next, row.terms)) checkRequirements(next, deps.servedTypes)
  }
  if (baseUrl !== undefined && baseUrl !== row?.terms.baseUrl) {
    checkAddress(baseUrl, deps.upstreams)
  }
  if (setting !== undefined && setting !== row?.terms.setting) {
    checkProxyIn(setting, deps.upstreams, isSameProxy || proxy !== null)
  }
  if (row !== null && terms.expiredTime !== undefined) {
    checkExpiry(terms.expiredTime, row.terms.expiredTime, context.at)
  }
  if (row !== null) await checkGroups(deps, 'group', terms.groups ?? [], row.terms.groups)
  const entered = await readEnteredKeys(deps, fields)
  if (row !== null) checkKeys({ ...row.terms, ...terms }, entered.keys, deps.servedTypes)
  const isSameTarget =
    row !== null && proxy === null && hasSameTarget({ ...row.terms, ...terms }, row.terms)
  const isRenewed = isSameTarget && isRenewal(entered)
  const unfinished = isRenewed ? await countUnfinishedWork(deps, [fields.id]) : NOTHING_UNFINISHED
  const write = async (before: () => readonly AnyStep[]) => {
    const checked = { fields, row, terms, proxy, entered, isSameTarget, before }
    return { ...(await writeChange(deps, checked, context)), unfinished }
  }
  const keptRefs = keptRefsOf(fields, entered, isSameTarget)
  if (keptRefs === null) return write(() => [])
  await refuseInvalid(deps, changeCommand(fields, terms, provisionalKeys(entered)))
  await assertNoUnfinishedWork(deps, [fields.id], keptRefs)
  return whileSubmissionsPaused(deps, [fields.id], context, async (resume) => {
    await assertNoUnfinishedWork(deps, [fields.id], keptRefs)
    return write(() => [resume()])
  })
}

const changeCommand = (
  { id, multi_key_mode: keyMode }: UpdateChannel,
  change: ChangeTerms['change'],
  keys: ChangeTerms['keys'],
): ChangeTerms => ({ type: 'ChangeTerms', channelId: id, change, keys, keyMode: keyMode ?? null })

/**
 * Returns provisional references of the entered keys. `refuseInvalid` checks the change with them,
 * because the keys are stored only if the change is valid.
 */
const provisionalKeys = ({ keys, isAppended }: EnteredKeys): ChangeTerms['keys'] => ({
  refs: keys.map((_, index) => `entered-${index}`),
  isAppended,
})

/** Throws if the change is invalid. Submissions are paused only for a valid change. */
async function refuseInvalid({ core: { actors } }: Deps, command: ChangeTerms): Promise<void> {
  const outcome = await actors.ask(channelsDecider, CHANNELS_STREAM, (state) =>
    channelsDecider.decide(command, state),
  )
  if ('code' in outcome) throw toHttpError(outcome)
}

type CheckedChange = Pick<Awaited<ReturnType<typeof changeWithProxy>>, 'terms' | 'proxy'> & {
  readonly fields: UpdateChannel
  readonly row: ChannelRow | null
  readonly entered: EnteredKeys
  readonly isSameTarget: boolean
  /**
   * Returns the steps that come before the change in the append. Called after the secrets are
   * stored, because a pause of submissions may end while many secrets are stored.
   */
  readonly before: () => readonly AnyStep[]
}

/**
 * Stores the secrets. Then makes one append: first the steps that `before` returns, then the
 * change.
 */
async function writeChange(
  { core: { actors, vault } }: Deps,
  { fields, row, terms, proxy, entered, isSameTarget, before }: CheckedChange,
  context: CommandContext,
): Promise<Written> {
  const stored = await storeEnteredKeys(vault, fields.id, entered, isSameTarget)
  const { refs, addedRefs } = stored
  const { isAppended, currentRefs: basedOn } = entered
  const keys = refs.length === 0 ? null : { refs, isAppended, basedOn }
  const proxyRef = proxy === null ? null : await storeProxy(vault, fields.id, proxy)
  const change = proxyRef === null ? terms : { ...terms, proxyRef }
  const changed = changeCommand(fields, change, keys)
  const commands = [
    ...[changed, ...enableReenteredKeys(fields, stored), ...keyCommands(fields, row)],
    ...statusCommands(fields, context),
  ]
  const steps = before().concat(
    commands.map((command) => ({ decider: channelsDecider, stream: CHANNELS_STREAM, command })),
  )
  const isNewTarget =
    keys !== null || (row !== null && !hasSameTarget({ ...row.terms, ...change }, row.terms))
  if (isNewTarget) steps.push(closeCircuitsStep(fields.id))
  const outcome = await actors.handleTogether(steps, context)
  const events = outcome.isDone ? (outcome.events as readonly ChannelEvent[]) : []
  const unused = proxyRef === null ? addedRefs : [...addedRefs, proxyRef]
  await deleteChannelSecrets(vault, outcome.isDone ? events.flatMap(replacedSecrets) : unused)
  return { position: accepted(outcome).position, repeated: entered.repeated }
}

/**
 * Converts the fields of a request to terms (settings of a channel). If the request contains masked
 * credentials of a proxy, the stored credentials are kept.
 */
async function changeWithProxy({ core }: Deps, fields: UpdateChannel) {
  const terms = changeOf(fields)
  const { channels } = await core.actors.stateOf(channelsDecider, CHANNELS_STREAM)
  const before = channels.get(fields.id)?.terms
  if (terms.setting === undefined || before === undefined) {
    return { terms, proxy: null, isSameProxy: false }
  }
  const change = await settingChange(core.vault, fields.id, terms.setting, before)
  return { ...change, terms: { ...terms, ...change.terms } }
}

/**
 * Returns the command that enables those entered keys again that the channel already had. Returns
 * an empty list if there are no such keys.
 */
const enableReenteredKeys = ({ id }: UpdateChannel, { keptRefs }: StoredKeys) =>
  keptRefs.length === 0 ? [] : [{ type: 'TakeBackKeys', channelId: id, keyRefs: keptRefs }]

/**
 * Returns the step that closes all circuits of the channel, so that calls use the channel again.
 * Earlier failures say nothing about a new key or address.
 */
const closeCircuitsStep = (channelId: number): AnyStep => ({
  decider: channelHealthDecider,
  stream: channelHealthStream(channelId),
  command: { type: 'CloseCircuits', reason: 'change' },
})

function replacedSecrets(event: ChannelEvent): readonly string[] {
  if (event.type !== 'ChannelTermsChanged') return []
  const { droppedKeyRefs, droppedProxyRef = [] } = event.data
  return droppedKeyRefs.concat(droppedProxyRef)
}

/**
 * Returns the command that enables keys again. `enable_keys` contains the indexes of these keys in
 * the channel's list of keys. If `enable_keys` is empty or omitted, returns an empty list. Throws
 * if a key does not exist.
 */
function keyCommands({ id, enable_keys: indexes = [] }: UpdateChannel, row: ChannelRow | null) {
  if (indexes.length === 0) return []
  const { keyRefs } = row ?? { keyRefs: [] }
  if (row !== null && indexes.some((index) => index >= keyRefs.length)) {
    throw invalidField('enable_keys', { zh: '没有这个密钥', en: 'the key does not exist' })
  }
  const selectedRefs = keyRefs.filter((_, index) => indexes.includes(index))
  return [{ type: 'TakeBackKeys', channelId: id, keyRefs: selectedRefs }]
}

function checkStatus({ status }: UpdateChannel, row: ChannelRow, { at }: CommandContext): void {
  const isPast = isExpired(row.terms.expiredTime, at / 1_000)
  if (status !== 3 || row.status === 3 || (row.status === 1 && isPast)) return
  throw invalidField('status', {
    zh: '只能设为 1（启用）或 2（禁用）；3（自动禁用）由网关自行设置',
    en: 'can only be set to 1 (enabled) or 2 (disabled); the gateway sets 3 (auto-disabled)',
  })
}

function statusCommands({ id, status }: UpdateChannel, { at }: CommandContext) {
  if (status === 2) return [{ type: 'DisableChannels', channelIds: [id] }]
  if (status !== 1) return []
  return [{ type: 'EnableChannels', channelIds: [id], now: Math.floor(at / 1_000) }]
}
