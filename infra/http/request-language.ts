import type { FastifyRequest } from 'fastify'
import type { TranslatedText } from '#domain/shared/translated-text.ts'

export type Language = keyof TranslatedText

/** Returns the caller's language: Chinese, unless `Accept-Language` prefers English. */
export function languageOf(request: Pick<FastifyRequest, 'headers'>): Language {
  const header = (request.headers['accept-language'] ?? '').slice(0, 200).toLowerCase()
  return weightOf(header, 'en') > weightOf(header, 'zh') ? 'en' : 'zh'
}

function weightOf(header: string, language: Language): number {
  const weights = header.split(',').map((item) => {
    const [tag = '', quality] = item.trim().split(/\s*;\s*q=/)
    const isWanted = tag === language || tag.startsWith(`${language}-`)
    const weight = quality === undefined ? 1 : Number(quality)
    return isWanted && weight >= 0 && weight <= 1 ? weight : 0
  })
  return Math.max(...weights)
}
