import { CHANNELS_STREAM, type ChannelEvent } from '#domain/channels/events.ts'
import {
  type ChannelRecord,
  evolveChannels,
  idsOf,
  initialChannels,
} from '#domain/channels/state.ts'
import { initialOptions } from '#domain/options/commands.ts'
import { optionsDecider } from '#domain/options/decide.ts'
import { OPTIONS_STREAM, type OptionsEvent } from '#domain/options/events.ts'
import { defaultOf, OPTIONS } from '#domain/options/option-registry.ts'
import { isPriceOption } from '#domain/pricing/compare-price-options.ts'
import type { Recorded, Sealed } from '#domain/shared/event.ts'
import { maskProxyPassword } from '#domain/shared/mask-proxy-credentials.ts'
import { tokenDecider } from '#domain/tokens/decide.ts'
import { type TokenEvent, tokensStream } from '#domain/tokens/events.ts'
import { type UserEvent, userStream } from '#domain/users/events.ts'
import { evolveUser, initialUser, type UserRecord } from '#domain/users/state.ts'
import type { Core } from '#infra/core-dependencies.ts'
import type { EventStore } from '#infra/event-store/port.ts'
import { findToken } from '#projections/tokens/query.ts'
import { usernamesByIds } from '#projections/users/query.ts'
import type { StateAsOf, StateKind } from '../contract/time-travel.ts'
import { userIdOf } from '../read-dependencies-and-query-parameters.ts'
import { tokenBudgetAsOf } from './find-last-token-budget-event.ts'
import { isAfter, type Moment } from './parse-moment.ts'

type Deps = Pick<Core, 'store' | 'db' | 'vault'>
type State = Readonly<Record<string, unknown>>

/** The computation of one object's state from the events of its stream. */
type Fold = {
  readonly stream: string
  /** Reports whether the event changed this object. The stream may also contain other objects. */
  readonly concerns: (event: Recorded) => boolean
  readonly apply: (event: Recorded) => void
  /**
   * Defined only for objects that events of a second stream change too. Finds the last such event
   * up to the moment, applies this event and returns it. Returns null if there is no such event.
   * Called only if an event of the first stream changed the object.
   */
  readonly applyOther?: (moment: Moment | null) => Promise<Recorded | null>
  /** Returns the state after the applied events, or null if the object does not exist. */
  readonly state: () => Promise<State | null> | State | null
  /**
   * Returns the built-in values of the options in the state. Undefined for objects that have no
   * options.
   */
  readonly builtIn?: () => Readonly<Record<string, string>>
}

const PAGE = 500
/** The text that is shown instead of a secret. */
const SECRET = '***'

/**
 * Returns the state of an object at a moment, computed from its events. In the result, `state` is
 * null if the object did not exist at the moment. Returns null if the object has never existed.
 */
export async function stateAsOf(
  deps: Deps,
  kind: StateKind,
  id: string,
  moment: Moment | null,
): Promise<StateAsOf | null> {
  const fold = await foldOf(deps, kind, id)
  if (fold === null) return null
  let last: Recorded | null = null
  let change: Recorded | null = null
  await readUntil(deps.store, fold.stream, moment, (event) => {
    last = event
    fold.apply(event)
    if (fold.concerns(event)) change = event
  })
  const other = change === null ? null : ((await fold.applyOther?.(moment)) ?? null)
  if (other !== null) {
    last = laterOf(last, other)
    change = laterOf(change, other)
  }
  return await responseOf(deps, { kind, id }, fold, last, change)
}

const laterOf = (event: Recorded | null, other: Recorded): Recorded =>
  event === null || event.position < other.position ? other : event

async function responseOf(
  deps: Deps,
  { kind, id }: { readonly kind: StateKind; readonly id: string },
  fold: Fold,
  last: Recorded | null,
  change: Recorded | null,
): Promise<StateAsOf | null> {
  const isOfSite = kind === 'options' || kind === 'prices'
  const isCreated = change !== null || isOfSite
  if (!isCreated && !(await hasEventsAfter(deps.store, fold, last))) return null
  const state = isCreated ? await fold.state() : null
  return {
    position: last?.position ?? 0,
    at: last === null ? 0 : secondsOf(last),
    ...{ kind, id, state: state === null ? null : { ...state } },
    ...(fold.builtIn === undefined ? {} : { built_in: fold.builtIn() }),
    is_deleted: isCreated && (state === null || state.is_deleted === true),
    last_change:
      change === null
        ? null
        : {
            ...{ position: change.position, revision: change.revision, type: change.type },
            ...{ created_at: secondsOf(change), actor: change.meta.actor },
            actor_name: await nameOfActor(deps, change.meta.actor),
          },
  }
}

async function nameOfActor({ db }: Deps, actor: string): Promise<string> {
  const id = userIdOf(actor)
  return id === null ? '' : ((await usernamesByIds(db, [id])).get(id) ?? '')
}

/** Reports whether an event after `last` changed the object. */
async function hasEventsAfter(
  store: Deps['store'],
  { stream, concerns }: Fold,
  last: Recorded | null,
): Promise<boolean> {
  for (let from = (last?.revision ?? -1) + 1; ; from += PAGE) {
    const events = await store.readStream(stream, from, PAGE)
    if (events.some(concerns)) return true
    if (events.length < PAGE) return false
  }
}

const secondsOf = ({ meta }: Recorded): number => Math.floor(meta.at / 1_000)

/**
 * Calls `visit` with the events of a stream in their order. Stops before the first event after the
 * moment.
 */
export async function readUntil(
  store: Pick<EventStore, 'readStream'>,
  stream: string,
  moment: Moment | null,
  visit: (event: Recorded) => void,
): Promise<void> {
  for (let from = 0; ; from += PAGE) {
    const events = await store.readStream(stream, from, PAGE)
    for (const event of events) {
      if (isAfter(event, moment)) return
      visit(event)
    }
    if (events.length < PAGE) return
  }
}

async function foldOf(deps: Deps, kind: StateKind, id: string): Promise<Fold | null> {
  if (kind === 'options' || kind === 'prices') return id === 'site' ? optionsFold(kind) : null
  if (id === 'site') return null
  if (kind === 'channel') return channelFold(Number(id))
  return kind === 'user' ? userFold(deps, Number(id)) : await tokenFold(deps, Number(id))
}

function optionsFold(kind: 'options' | 'prices'): Fold {
  let options = initialOptions()
  const isShown = (key: string) => kind === 'options' || isPriceOption(key)
  return {
    stream: OPTIONS_STREAM,
    concerns: ({ data }) => isShown(String((data as { readonly key?: string }).key ?? '')),
    apply: (event) => {
      options = optionsDecider.evolve(options, event as Recorded<OptionsEvent>)
    },
    state: () => {
      const values = [...options.values].filter(([key]) => isShown(key))
      const secrets = [...options.secretRefs].filter(([key]) => isShown(key))
      const masked = secrets.map(([key, ref]) => [key, ref === '' ? '' : SECRET] as const)
      return Object.fromEntries([...values, ...masked].toSorted(([a], [b]) => (a < b ? -1 : 1)))
    },
    builtIn: () => {
      const shown = [...options.values.keys()].filter((key) => isShown(key) && OPTIONS.has(key))
      return Object.fromEntries(shown.map((key) => [key, defaultOf(key)]))
    },
  }
}

/**
 * Converts member names in a part of the domain's state to the names of the API, such as `baseUrl`
 * to `base_url`. The part must not contain objects whose member names come from users, because
 * these names would be converted too.
 */
function withWireNames(part: object): State {
  const members = Object.entries(part).map(([name, value]: [string, unknown]) => {
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
    const wireName = name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
    return [wireName, isObject ? withWireNames(value) : value] as const
  })
  return Object.fromEntries(members)
}

function channelFold(channelId: number): Fold {
  const state = initialChannels()
  return {
    stream: CHANNELS_STREAM,
    concerns: (event) => idsOf(event as Recorded<ChannelEvent>).includes(channelId),
    apply: (event) => {
      evolveChannels(state, event as Recorded<ChannelEvent>)
    },
    state: () => {
      const channel = state.channels.get(channelId)
      return channel === undefined ? null : channelState(channel)
    },
  }
}

function channelState({ terms, status, keyRefs, keyMode, setAside }: ChannelRecord): State {
  const { proxyRef, setting, ...others } = terms
  return {
    ...withWireNames(others),
    ...{ setting: maskProxyPassword(setting), proxy: proxyRef === undefined ? '' : SECRET },
    ...{ status, key: keyRefs.length === 0 ? '' : SECRET, key_count: keyRefs.length },
    ...{ key_mode: keyMode, suspended_keys: setAside.length },
  }
}

function userFold({ vault }: Deps, userId: number): Fold {
  let state = initialUser()
  return {
    stream: userStream(userId),
    concerns: () => true,
    apply: (event) => {
      state = evolveUser(state, event as Recorded<UserEvent>)
    },
    state: async () => (state.user === null ? null : await userState(vault, state.user)),
  }
}

async function userState(vault: Core['vault'], user: UserRecord): Promise<State> {
  const { passwordRef, identities, displayName, settings } = user
  return {
    ...{ role: user.role, group: user.group, is_enabled: user.isEnabled },
    ...{ is_deleted: user.isDeleted, is_erased: user.isErased },
    display_name: (await vault.open(user.userId, displayName as Sealed)) ?? '',
    password: passwordRef === null ? '' : SECRET,
    identities: Object.keys(identities),
    settings: withWireNames(
      Object.fromEntries(
        Object.entries(settings).map(([name, value]) => [
          name,
          isSecretSetting(name) ? SECRET : value,
        ]),
      ),
    ),
  }
}

const isSecretSetting = (name: string): boolean => /secret|key|password|ref$/i.test(name)

async function tokenFold(deps: Deps, tokenId: number): Promise<Fold | null> {
  const { db, vault } = deps
  const token = await findToken(db, tokenId)
  if (token === null) return null
  const { userId } = token
  const state = tokenDecider.initialState()
  let budget: State = {}
  return {
    stream: tokensStream(userId),
    concerns: ({ data }) => tokenIdsIn(data).includes(tokenId),
    apply: (event) => {
      tokenDecider.evolve(state, event as Recorded<TokenEvent>)
    },
    applyOther: async (moment) => {
      if (!state.tokens.has(tokenId)) return null
      const event = await tokenBudgetAsOf(deps, { userId, tokenId }, moment)
      if (event === null) return null
      const { remain, isUnlimited } = event.data
      // An unlimited quota has no amount.
      budget = { quota: isUnlimited ? null : remain, is_unlimited: isUnlimited }
      return event
    },
    state: async () => {
      const record = state.tokens.get(tokenId)
      if (record === undefined) return null
      const { name, allowIps, ...terms } = record.terms
      const plainName = typeof name === 'string' ? await vault.open(userId, name) : name.plain
      return {
        ...{ user_id: userId, name: plainName ?? '', is_enabled: record.isEnabled },
        ...withWireNames(terms),
        ...budget,
        ...{ key: SECRET, allow_ips: allowIps === null ? '' : SECRET },
      }
    },
  }
}

function tokenIdsIn(data: object): readonly number[] {
  const { tokenId, tokenIds, tokens } = data as {
    readonly tokenId?: number
    readonly tokenIds?: readonly number[]
    readonly tokens?: readonly { readonly tokenId: number }[]
  }
  if (tokenId !== undefined) return [tokenId]
  return tokenIds ?? tokens?.map((token) => token.tokenId) ?? []
}
