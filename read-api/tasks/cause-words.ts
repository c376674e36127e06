import type { Language } from '#infra/http/language.ts'

type Words = Readonly<Record<Language, string>>

/** Why a task failed, where its provider said nothing. */
const CAUSES: Readonly<Record<string, Words>> = {
  failed: { zh: '上游未说明原因', en: 'The upstream gave no reason' },
  refused: { zh: '上游拒绝了该任务', en: 'The upstream refused the task' },
  unreachable: { zh: '上游没有应答', en: 'The upstream did not answer' },
  lost: { zh: '任务没有回音，已结束', en: 'Nothing was heard of the task; it was ended' },
  timeout: { zh: '任务超过一小时未完成', en: 'The task took more than an hour' },
}

/** Empty for a task that has not failed. */
export const causeWords = (cause: string, language: Language): string =>
  cause === '' ? '' : (CAUSES[cause]?.[language] ?? cause)
