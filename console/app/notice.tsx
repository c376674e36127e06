import { useTranslation } from 'react-i18next'
import { Button } from '#console/ui/elements/button.tsx'
import { RichText } from '#console/ui/rich/rich-text.tsx'
import { useLocalPreference } from '#console/ui/state/use-local-preference.ts'
import { useNotice } from '../api/notice-and-site-pages.ts'

/**
 * Shows the operator's notice. A notice that the user has dismissed appears again when its text
 * changes.
 */
export function Notice() {
  const { t } = useTranslation()
  const text = useNotice()
  const [read, setRead] = useLocalPreference('notice-read', '', (stored) =>
    typeof stored === 'string' ? stored : null,
  )
  const fingerprint = fingerprintOf(text)
  if (text.trim() === '' || read === fingerprint) return null
  return (
    <section className="tg-notice" aria-label={t('shell.notice')}>
      <RichText text={text} title={t('shell.notice')} firstHeight={estimatedHeight(text)} />
      <Button
        tone="quiet"
        size="small"
        icon="close"
        label={t('shell.noticeClose')}
        onClick={() => setRead(fingerprint)}
      />
    </section>
  )
}

const LINE_PX = 25
const GAP_PX = 15
const CHARACTER_PX = 7.5
/**
 * The width (px) that the sidebar, the margins and the close button take up beside the text of the
 * notice.
 */
const SIDE_WIDTH_PX = 90

/**
 * Estimates the height (px) of the notice. This space is reserved until the notice has loaded, so
 * that the page hardly moves when the notice appears.
 */
function estimatedHeight(text: string): number {
  const width = Math.max(240, window.innerWidth - SIDE_WIDTH_PX)
  const blocks = text
    .replaceAll(/<[^>]*>/g, '')
    .split(/\n\s*\n/)
    .filter((block) => block.trim() !== '')
  const lines = blocks.map((block) => Math.ceil((block.length * CHARACTER_PX) / width) * LINE_PX)
  return lines.reduce((sum, height) => sum + height + GAP_PX, -GAP_PX)
}

function fingerprintOf(text: string): string {
  let sum = 0
  for (const character of text) sum = (Math.imul(sum, 31) + (character.codePointAt(0) ?? 0)) | 0
  return `${text.length}:${sum}`
}
