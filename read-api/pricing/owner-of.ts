/** How the names of models begin, and who makes those: the first that fits counts. */
const OWNERS: readonly (readonly [RegExp, string])[] = [
  [/^(?:qwen|qwq|qvq|wan\d|text-embedding-v\d)/, 'Alibaba'],
  [/^(?:gpt|chatgpt|o[1-9](?:-|$)|text-embedding|text-moderation|omni-moderation)/, 'OpenAI'],
  [/^(?:dall-e|whisper|tts-|davinci|babbage|codex|sora)/, 'OpenAI'],
  [/^claude/, 'Anthropic'],
  [/^(?:gemini|gemma|palm|imagen|veo|learnlm|text-bison|chat-bison)/, 'Google'],
  [/^deepseek/, 'DeepSeek'],
  [/^(?:glm|chatglm|cogview|cogvideo|charglm)/, 'Zhipu'],
  [/^(?:moonshot|kimi)/, 'Moonshot'],
  [/^(?:doubao|seed-|seedream|skylark)/, 'ByteDance'],
  [/^(?:ernie|bloomz)/, 'Baidu'],
  [/^hunyuan/, 'Tencent'],
  [/^(?:spark|sparkdesk)/i, 'iFlytek'],
  [/^(?:mistral|mixtral|codestral|ministral|magistral|devstral|pixtral|open-mi)/, 'Mistral'],
  [/^(?:llama|meta-llama|codellama)/, 'Meta'],
  [/^grok/, 'xAI'],
  [/^(?:command|embed-|rerank-(?:english|multilingual|v\d)|aya-|c4ai)/, 'Cohere'],
  [/^(?:abab|minimax|speech-0)/, 'MiniMax'],
  [/^yi-/, '01.AI'],
  [/^(?:sonar|pplx)/, 'Perplexity'],
  [/^jina/, 'Jina'],
  [/^(?:bge|baai)/, 'BAAI'],
  [/^m3e/, 'Moka'],
  [/^step-/, 'StepFun'],
  [/^(?:mj_|swap_face|midjourney)/, 'Midjourney'],
  [/^(?:suno|chirp)/, 'Suno'],
  [/^(?:stable-diffusion|sd3|sdxl)/, 'Stability AI'],
  [/^(?:flux|black-forest)/, 'Black Forest Labs'],
]

/**
 * Whose model it is, by the last part of its name (`meta/llama-3` is a llama); empty where the
 * name does not say. NOTE: never by the channel: where a site buys is the site's own business.
 */
export function ownerOf(model: string): string {
  const name = model.toLowerCase()
  const last = name.slice(name.lastIndexOf('/') + 1)
  return OWNERS.find(([begins]) => begins.test(last))?.[1] ?? ''
}
