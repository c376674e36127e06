export type RoutingTerms = {
  readonly models: readonly string[]
  /** Stands before each model's name as callers know it. */
  readonly modelPrefix: string
  readonly groups: readonly string[]
  readonly priority: number
  readonly weight: number
}

/** Anything that carries a channel's terms. */
export type Candidate = { readonly terms: RoutingTerms }

/**
 * The channels that offer the model to the group, in the order to try them, none twice: priorities
 * from high to low, and inside one a draw by weight, so that the first of a tier has the share its
 * weight says. All weights 0: every order is as likely; next to another, a weight of 0 comes last.
 * `random` gives numbers from 0 up to 1, without 1.
 */
export function channelsToTry<C extends Candidate>(
  candidates: readonly C[],
  { model, group }: { readonly model: string; readonly group: string },
  random: () => number,
): C[] {
  const tiers = new Map<number, C[]>()
  for (const candidate of candidates) {
    const { models, modelPrefix, groups, priority } = candidate.terms
    const isOffered = models.some((name) => modelPrefix + name === model)
    if (!isOffered || !groups.includes(group)) continue
    const tier = tiers.get(priority)
    if (tier === undefined) tiers.set(priority, [candidate])
    else tier.push(candidate)
  }
  return [...tiers]
    .sort(([left], [right]) => right - left)
    .flatMap(([, tier]) => [
      ...drawnByWeight(
        tier.filter(({ terms }) => terms.weight > 0),
        random,
      ),
      ...shuffled(
        tier.filter(({ terms }) => terms.weight <= 0),
        random,
      ),
    ])
}

function drawnByWeight<C extends Candidate>(tier: readonly C[], random: () => number): C[] {
  const left = [...tier]
  let total = left.reduce((sum, { terms }) => sum + terms.weight, 0)
  const order: C[] = []
  while (left.length > 0) {
    const drawn = indexAt(left, random() * total)
    for (const candidate of left.splice(drawn, 1)) {
      order.push(candidate)
      total -= candidate.terms.weight
    }
  }
  return order
}

function indexAt(tier: readonly Candidate[], point: number): number {
  let passed = 0
  const index = tier.findIndex(({ terms }) => {
    passed += terms.weight
    return point < passed
  })
  return index < 0 ? tier.length - 1 : index
}

function shuffled<C>(tier: readonly C[], random: () => number): C[] {
  const left = [...tier]
  const order: C[] = []
  while (left.length > 0) order.push(...left.splice(Math.floor(random() * left.length), 1))
  return order
}
