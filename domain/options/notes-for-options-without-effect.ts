import type { Words } from '../shared/translated-text.ts'

/** Returns the note for an option that is validated and stored, but has no effect yet. */
const actsLater = (zh: string, en: string): Words => ({
  zh: `此处保存并校验；${zh}上线后生效。`,
  en: `Saved and validated here. Takes effect once ${en} built.`,
})

export const WITH_GEMINI = actsLater('Gemini 渠道', 'the Gemini provider is')
export const WITH_CLAUDE = actsLater('Claude 渠道', 'the Claude provider is')
export const WITH_LOOK_UP = actsLater('按密钥查询额度', 'looking up quota by a key is')
export const NOTHING_QUEUES: Words = {
  zh: '为兼容而保留：本网关按背压转发，从不在队列中积压输出。',
  en: 'Kept for compatibility: answers are forwarded as they arrive, and are never queued.',
}
export const ALWAYS_RECORDED: Words = {
  zh: '为兼容而保留：账单以事件为依据，用量始终记录。',
  en: 'Kept for compatibility: usage is always recorded, because bills are based on events.',
}
