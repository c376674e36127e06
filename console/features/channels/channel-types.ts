/** Names of the wire's channel type numbers; rows of any type are shown, few can be added. */
const NAMES: Readonly<Record<number, string>> = {
  0: 'Unknown',
  1: 'OpenAI',
  2: 'Midjourney',
  3: 'Azure OpenAI',
  4: 'Ollama',
  5: 'Midjourney Plus',
  6: 'OpenAIMax',
  7: 'OhMyGPT',
  8: 'Custom',
  9: 'AILS',
  10: 'AI Proxy',
  11: 'PaLM',
  12: 'API2GPT',
  13: 'AIGC2D',
  14: 'Anthropic',
  15: 'Baidu (v1)',
  16: 'Zhipu (v3)',
  17: 'Ali DashScope',
  18: 'Xunfei Spark',
  19: '360',
  20: 'OpenRouter',
  21: 'AI Proxy Library',
  22: 'FastGPT',
  23: 'Tencent Hunyuan',
  24: 'Gemini',
  25: 'Moonshot',
  26: 'Zhipu v4',
  27: 'Perplexity',
  31: 'LingYiWanWu',
  33: 'AWS Bedrock',
  34: 'Cohere',
  35: 'MiniMax',
  36: 'Suno API',
  37: 'Dify',
  38: 'Jina',
  39: 'Cloudflare Workers AI',
  40: 'SiliconFlow',
  41: 'Vertex AI',
  42: 'Mistral',
  43: 'DeepSeek',
  44: 'MokaAI',
  45: 'VolcEngine Ark',
  46: 'Baidu v2 (Qianfan)',
  47: 'Xinference',
  48: 'xAI',
  49: 'Coze',
  50: 'Kling',
  51: 'Jimeng',
  52: 'Vidu',
  53: 'Submodel',
  54: 'Doubao Video',
  55: 'Sora',
  56: 'Replicate',
}

const CHAT_PATH = '/v1/chat/completions'

export type ChannelType = {
  id: number
  name: string
  baseUrl: string
  /** Below the address; an address that ends in `/v1` already gets no second one. */
  chatPath: string
}

const type = (id: number, baseUrl: string, chatPath = CHAT_PATH): ChannelType => ({
  id,
  name: NAMES[id] ?? `#${id}`,
  baseUrl,
  chatPath,
})

/** The types that can be added: those that the relay speaks to in the OpenAI-compatible format. */
export const OFFERED_TYPES: readonly ChannelType[] = [
  type(1, 'https://api.openai.com'),
  type(8, ''),
  type(20, 'https://openrouter.ai/api'),
  type(43, 'https://api.deepseek.com'),
  type(42, 'https://api.mistral.ai'),
  type(48, 'https://api.x.ai'),
  type(27, 'https://api.perplexity.ai', '/chat/completions'),
  type(25, 'https://api.moonshot.cn'),
  type(40, 'https://api.siliconflow.cn'),
  type(17, 'https://dashscope.aliyuncs.com', '/compatible-mode/v1/chat/completions'),
  type(26, 'https://open.bigmodel.cn', '/api/paas/v4/chat/completions'),
  type(45, 'https://ark.cn-beijing.volces.com', '/api/v3/chat/completions'),
  type(46, 'https://qianfan.baidubce.com', '/v2/chat/completions'),
  type(35, 'https://api.minimax.chat', '/v1/text/chatcompletion_v2'),
  type(31, 'https://api.lingyiwanwu.com'),
  type(19, 'https://api.360.cn'),
  type(4, 'http://localhost:11434'),
  type(47, ''),
]

export const typeName = (id: number): string => NAMES[id] ?? `#${id}`

export const defaultBaseUrl = (id: number): string =>
  OFFERED_TYPES.find((type) => type.id === id)?.baseUrl ?? ''

/** The offered types, and with them the one that a channel being edited already has. */
export function typesToOffer(current: number): readonly ChannelType[] {
  if (OFFERED_TYPES.some(({ id }) => id === current)) return OFFERED_TYPES
  return [...OFFERED_TYPES, type(current, '')]
}

/** Where a chat call of a channel goes. */
export function relayAddress(typeId: number, url: string): string {
  const chatPath = OFFERED_TYPES.find(({ id }) => id === typeId)?.chatPath ?? CHAT_PATH
  const base = url.trim().replace(/\/+$/, '')
  const isVersioned = base.endsWith('/v1') && chatPath.startsWith('/v1/')
  return `${base}${isVersioned ? chatPath.slice('/v1'.length) : chatPath}`
}
