type Loose = Readonly<Record<string, unknown>>

/**
 * The usage that one event of a stream, or a whole answer, tells: where OpenAI has it, or inside of
 * a choice, where Moonshot has it. undefined when it tells none. llama.cpp counts what it took from
 * its cache beside the usage, as `timings.cache_n`: that is put where OpenAI has it.
 */
export function usageInEvent(event: object): unknown {
  const { usage: outer, choices, timings } = event as Loose
  const usage = recordOf(outer) ?? usageInChoices(choices)
  if (usage === null) return undefined
  const cached = recordOf(timings)?.cache_n
  if (typeof cached !== 'number' || recordOf(usage.prompt_tokens_details) !== null) return usage
  return { ...usage, prompt_tokens_details: { cached_tokens: cached } }
}

function usageInChoices(choices: unknown): Loose | null {
  if (!Array.isArray(choices)) return null
  for (const choice of choices.toReversed()) {
    const usage = recordOf(recordOf(choice)?.usage)
    if (usage !== null) return usage
  }
  return null
}

const recordOf = (value: unknown): Loose | null =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Loose) : null
