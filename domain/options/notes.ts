import type { Words } from '../shared/words.ts'

/** A setting is kept and checked, and says so: what it acts on isn't built yet. */
const actsLater = (zh: string, en: string): Words => ({
  zh: `此处保存并校验；${zh}上线后生效。`,
  en: `Kept and checked here; acts once ${en} built.`,
})

export const WITH_GEMINI = actsLater('Gemini 渠道', 'the Gemini provider is')
export const WITH_CLAUDE = actsLater('Claude 渠道', 'the Claude provider is')
export const WITH_LOOK_UP = actsLater('按密钥查询额度', 'looking up quota by a key is')
