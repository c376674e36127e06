import { useTranslation } from 'react-i18next'
import { changedLines } from './changed-options.ts'

const LINES_MAX = 40

export function OptionDiff(props: { before: string | null; after: string }) {
  const { t } = useTranslation()
  const { before, after } = props
  const { removed, added } =
    before === null ? { removed: [], added: after.split('\n') } : changedLines(before, after)
  const lines = [
    ...removed.map((text) => ({ mark: '−', text, label: t('settings.before') })),
    ...added.map((text) => ({ mark: '+', text, label: t('settings.after') })),
  ]
  const rest = lines.length - LINES_MAX
  return (
    <>
      <ul className="tg-diff">
        {lines.slice(0, LINES_MAX).map(({ mark, text, label }) => (
          <li key={`${mark}${text}`} className={mark === '+' ? 'tg-diff-added' : 'tg-diff-removed'}>
            <span className="tg-visually-hidden">{label}</span>
            <span aria-hidden="true">{mark}</span>
            <code>{text.trim() === '' ? t('settings.empty') : text.trim()}</code>
          </li>
        ))}
      </ul>
      {rest > 0 && <p className="tg-hint">{t('settings.moreLines', { count: rest })}</p>}
    </>
  )
}
