import { useQuery } from '@tanstack/react-query'
import type { ReactElement } from 'react'
import { useTranslation } from 'react-i18next'
import { Button } from '#console/ui/button.tsx'
import { RichText } from '#console/ui/rich/rich-text.tsx'
import { useLocalPreference } from '#console/ui/use-local-preference.ts'
import { sitePageQuery } from '../api/status.ts'

/** The operator's notice to everybody, until it is dismissed; another text is another notice. */
export function Notice(): ReactElement | null {
  const { t } = useTranslation()
  const text = useQuery(sitePageQuery('notice')).data ?? ''
  const [read, setRead] = useLocalPreference('notice-read', '', (stored) =>
    typeof stored === 'string' ? stored : null,
  )
  const mark = markOf(text)
  if (text.trim() === '' || read === mark) return null
  return (
    <section className="tg-notice" aria-label={t('shell.notice')}>
      <RichText text={text} title={t('shell.notice')} />
      <Button
        tone="quiet"
        size="small"
        icon="close"
        label={t('shell.noticeClose')}
        onClick={() => setRead(mark)}
      />
    </section>
  )
}

/** Tells texts apart without keeping them: they may be long. */
function markOf(text: string): string {
  let sum = 0
  for (const character of text) sum = (Math.imul(sum, 31) + (character.codePointAt(0) ?? 0)) | 0
  return `${text.length}:${sum}`
}
