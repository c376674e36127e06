export type RoutingTerms = {
  readonly models: readonly string[]
  /** The prefix that callers must put before the channel's model names. */
  readonly modelPrefix: string
  readonly groups: readonly string[]
  readonly priority: number
  readonly weight: number
}

export type Candidate = { readonly terms: RoutingTerms }

/**
 * Channels with the same priority. Either all of them have the weight 0, or all of them have
 * weights above 0. `sums` contains the cumulative weights, with a weight of 0 counted as 1.
 */
export type PriorityTier<C> = { readonly channels: readonly C[]; readonly sums: readonly number[] }

/**
 * The channels that offer one model to one group, by descending priority. Within a priority, the
 * tier with weights above 0 comes first. The channels of a tier with the weight 0 have equal
 * probability.
 */
export type Offer<C> = readonly PriorityTier<C>[]

/** The offers by group, then by the model name that callers use. */
export type Offers<C> = ReadonlyMap<string, ReadonlyMap<string, Offer<C>>>

/**
 * Returns the channels for each group and model, sorted by priority. This function is called when a
 * channel changes, so that calls do not have to sort channels. `offersModel` returns false to
 * exclude a channel for a model name.
 */
export function offersOf<C extends Candidate>(
  candidates: Iterable<C>,
  offersModel: (candidate: C, name: string) => boolean = () => true,
): Offers<C> {
  const offers = new Map<string, Map<string, C[]>>()
  for (const candidate of candidates) {
    const { groups, models, modelPrefix } = candidate.terms
    for (const group of new Set(groups)) {
      const ofGroup = offers.get(group) ?? new Map<string, C[]>()
      offers.set(group, ofGroup)
      for (const model of new Set(models)) {
        const name = modelPrefix + model
        if (!offersModel(candidate, name)) continue
        const channels = ofGroup.get(name)
        if (channels === undefined) ofGroup.set(name, [candidate])
        else channels.push(candidate)
      }
    }
  }
  const sorted = new Map<string, Map<string, Offer<C>>>()
  for (const [group, models] of offers) {
    sorted.set(group, new Map([...models].map(([model, channels]) => [model, offerOf(channels)])))
  }
  return sorted
}

export function offerOf<C extends Candidate>(channels: readonly C[]): Offer<C> {
  const tiers = new Map<number, C[]>()
  for (const channel of channels) {
    const { priority } = channel.terms
    const tier = tiers.get(priority)
    if (tier === undefined) tiers.set(priority, [channel])
    else tier.push(channel)
  }
  return [...tiers]
    .sort(([left], [right]) => right - left)
    .flatMap(([, tier]) => [
      tierOf(tier.filter(({ terms }) => terms.weight > 0)),
      tierOf(tier.filter(({ terms }) => terms.weight <= 0)),
    ])
    .filter(({ channels: some }) => some.length > 0)
}

/**
 * Returns a tier with the channels. If all weights are 0, the channels are drawn with equal
 * probability.
 */
function tierOf<C extends Candidate>(channels: readonly C[]): PriorityTier<C> {
  let sum = 0
  const sums = channels.map(({ terms }) => {
    sum += terms.weight > 0 ? terms.weight : 1
    return sum
  })
  return { channels, sums }
}

/**
 * Returns a function that computes a fact about an offer once and caches the fact. Thousands of
 * calls share an offer, and an offer may have a thousand channels. The fact never becomes outdated,
 * because a changed channel results in a new offer object.
 */
export function oncePerOffer<C, Fact>(
  compute: (offer: Offer<C>) => Fact,
): (offer: Offer<C>) => Fact {
  const facts = new WeakMap<Offer<C>, { readonly fact: Fact }>()
  return (offer) => {
    const existing = facts.get(offer)
    if (existing !== undefined) return existing.fact
    const fact = compute(offer)
    facts.set(offer, { fact })
    return fact
  }
}

const channelsOfTiers = oncePerOffer((offer: Offer<unknown>) =>
  offer.flatMap(({ channels }) => channels),
)

/** Lists the channels of an offer, by descending priority. */
export function channelsIn<C>(offer: Offer<C>): readonly C[] {
  const [first, second] = offer
  if (first !== undefined && second === undefined) return first.channels
  return channelsOfTiers(offer) as readonly C[]
}
