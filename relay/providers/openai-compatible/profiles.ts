/** An upstream that speaks OpenAI's chat format: everything that sets it apart. */
export type Profile = {
  /** Used when the channel has no base URL; null: the channel must have one. */
  readonly baseUrl: string | null
  readonly chatPath: string
  /** Its `completion_tokens` leave reasoning out: the output is the total less the prompt. */
  readonly isOutputTotalLessPrompt?: true
}

const CHAT = '/v1/chat/completions'
const at = (baseUrl: string | null, chatPath = CHAT): Profile => ({ baseUrl, chatPath })

/**
 * By channel type. Types whose old default address belongs to somebody else by now have none, so
 * that no key is ever sent there unasked.
 */
export const PROFILES: ReadonlyMap<number, Profile> = new Map([
  [1, at('https://api.openai.com')],
  [4, at('http://localhost:11434')],
  [6, at(null)],
  [7, at(null)],
  [8, at(null)],
  [9, at(null)],
  [10, at(null)],
  [12, at(null)],
  [13, at(null)],
  [17, at('https://dashscope.aliyuncs.com', '/compatible-mode/v1/chat/completions')],
  [19, at('https://api.360.cn')],
  [20, at('https://openrouter.ai/api')],
  [22, at('https://fastgpt.run/api/openapi')],
  [25, at('https://api.moonshot.cn')],
  [26, at('https://open.bigmodel.cn', '/api/paas/v4/chat/completions')],
  [27, at('https://api.perplexity.ai', '/chat/completions')],
  [31, at('https://api.lingyiwanwu.com')],
  [35, at('https://api.minimax.chat', '/v1/text/chatcompletion_v2')],
  [40, at('https://api.siliconflow.cn')],
  [42, at('https://api.mistral.ai')],
  [43, at('https://api.deepseek.com')],
  [44, at('https://api.moka.ai')],
  [45, at('https://ark.cn-beijing.volces.com', '/api/v3/chat/completions')],
  [46, at('https://qianfan.baidubce.com', '/v2/chat/completions')],
  [47, at(null)],
  [48, { ...at('https://api.x.ai'), isOutputTotalLessPrompt: true }],
  [53, at('https://llm.submodel.ai')],
])
