import type { ReactElement } from 'react'
import { useTranslation } from 'react-i18next'
import type { OptionSection } from '#read-api/contract/option.ts'
import { useWords } from './use-words.ts'

const SHOWN_FROM = 4

/** The sections of a long tab, each one press away. */
export function SectionList(props: { sections: readonly OptionSection[] }): ReactElement | null {
  const { t } = useTranslation()
  const words = useWords()
  if (props.sections.length < SHOWN_FROM) return null
  return (
    <nav className="tg-section-list" aria-label={t('settings.sections')}>
      {props.sections.map(({ id, title }) => (
        <button key={id} type="button" onClick={() => show(id)}>
          {words(title)}
        </button>
      ))}
    </nav>
  )
}

function show(id: string): void {
  const section = document.getElementById(`section-${id}`)
  section?.scrollIntoView({ block: 'start' })
  section?.querySelector<HTMLElement>('input, textarea, select, button')?.focus({
    preventScroll: true,
  })
}
