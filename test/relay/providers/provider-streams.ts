/** A provider's stream that differs from OpenAI's, and the usage that the stream reports. */
export type ProviderStream = {
  readonly type: number
  readonly name: string
  /** Events as sent; `dropped` ones are for the bill alone. */
  readonly events: readonly (string | { readonly dropped: string })[]
  readonly usage: Readonly<Record<string, number>>
}

const chunk = (delta: string, rest = ''): string =>
  `data: {"id":"c","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":"${delta}"}}]${rest}}\n\n`
const DONE = 'data: [DONE]\n\n'

export const PROVIDER_STREAMS: readonly ProviderStream[] = [
  {
    type: 1,
    name: 'OpenAI: usage in a separate chunk, null before',
    events: [
      chunk('Hé', ',"usage":null'),
      chunk('llo', ',"usage":null'),
      {
        dropped:
          'data: {"choices":[],"usage":{"prompt_tokens":20,"completion_tokens":9,"total_tokens":29,"prompt_tokens_details":{"cached_tokens":8,"audio_tokens":0},"completion_tokens_details":{"reasoning_tokens":4}}}\n\n',
      },
      DONE,
    ],
    usage: { inputUncached: 12, cacheRead: 8, output: 9, reasoning: 4 },
  },
  {
    type: 3,
    name: 'Azure: a first chunk without choices, which is not the usage',
    events: [
      'data: {"choices":[],"created":0,"id":"","model":"","object":"","prompt_filter_results":[{"prompt_index":0}]}\n\n',
      chunk('Hello', ',"usage":null'),
      {
        dropped:
          'data: {"choices":[],"usage":{"prompt_tokens":7,"completion_tokens":2,"total_tokens":9}}\n\n',
      },
      DONE,
    ],
    usage: { inputUncached: 7, cacheRead: 0, output: 2 },
  },
  {
    type: 8,
    name: 'llama.cpp: the cached count beside the usage',
    events: [
      chunk('Hello'),
      {
        dropped:
          'data: {"choices":[],"usage":{"completion_tokens":2,"prompt_tokens":30,"total_tokens":32},"timings":{"cache_n":25,"prompt_n":5,"predicted_n":2}}\n\n',
      },
      DONE,
    ],
    usage: { inputUncached: 5, cacheRead: 25, output: 2 },
  },
  {
    type: 20,
    name: 'OpenRouter: comments while it waits, the cost in dollars',
    events: [
      ': OPENROUTER PROCESSING\n\n',
      chunk('Hello'),
      {
        dropped:
          'data: {"choices":[],"usage":{"prompt_tokens":10,"completion_tokens":3,"total_tokens":13,"cost":0.0014,"is_byok":false,"prompt_tokens_details":{"cached_tokens":0,"cache_write_tokens":4}}}\n\n',
      },
      DONE,
    ],
    usage: { inputUncached: 6, cacheWrite5m: 4, output: 3 },
  },
  {
    type: 25,
    name: 'Moonshot: usage inside the last choice',
    events: [
      chunk('Hello'),
      'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop","usage":{"prompt_tokens":19,"completion_tokens":13,"total_tokens":32,"cached_tokens":10}}]}\n\n',
      DONE,
    ],
    usage: { inputUncached: 9, cacheRead: 10, output: 13 },
  },
  {
    type: 26,
    name: 'Zhipu: cached tokens beside the counts, usage with the last choice',
    events: [
      chunk('Hello'),
      'data: {"choices":[{"index":0,"finish_reason":"stop","delta":{"content":""}}],"usage":{"prompt_tokens":8,"completion_tokens":262,"total_tokens":270,"cached_tokens":3}}\n\n',
      DONE,
    ],
    usage: { inputUncached: 5, cacheRead: 3, output: 262 },
  },
  {
    type: 27,
    name: 'Perplexity: usage with every chunk, the last one counts',
    events: [
      chunk('Hel', ',"usage":{"prompt_tokens":4,"completion_tokens":1,"total_tokens":5}'),
      chunk(
        'lo',
        ',"usage":{"prompt_tokens":4,"completion_tokens":3,"total_tokens":7},"citations":["https://a.example"]',
      ),
      DONE,
    ],
    usage: { inputUncached: 4, output: 3 },
  },
  {
    type: 42,
    name: 'Mistral: usage without a request for it, with the last choice',
    events: [
      chunk('Hello'),
      'data: {"choices":[{"index":0,"delta":{"content":""},"finish_reason":"stop"}],"usage":{"prompt_tokens":6,"total_tokens":8,"completion_tokens":2}}\n\n',
      DONE,
    ],
    usage: { inputUncached: 6, output: 2 },
  },
  {
    type: 43,
    name: 'DeepSeek: hits and misses of its cache, keep-alive comments',
    events: [
      ': keep-alive\n\n',
      chunk('Hello', ',"usage":null'),
      'data: {"choices":[{"index":0,"delta":{"content":""},"finish_reason":"stop"}],"usage":{"prompt_tokens":17,"completion_tokens":9,"total_tokens":26,"prompt_cache_hit_tokens":16,"prompt_cache_miss_tokens":1}}\n\n',
      DONE,
    ],
    usage: { inputUncached: 1, cacheRead: 16, output: 9 },
  },
  {
    type: 48,
    name: 'xAI: reasoning outside the completion count',
    events: [
      chunk('Hello'),
      {
        dropped:
          'data: {"choices":[],"usage":{"prompt_tokens":12,"completion_tokens":2,"total_tokens":314,"prompt_tokens_details":{"cached_tokens":4},"completion_tokens_details":{"reasoning_tokens":300}}}\n\n',
      },
      DONE,
    ],
    usage: { inputUncached: 8, cacheRead: 4, output: 302, reasoning: 300 },
  },
]
