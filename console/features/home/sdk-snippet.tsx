import { type ReactElement, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { CopyButton } from '#console/ui/copy-button.tsx'
import { Tabs } from '#console/ui/tabs.tsx'
import { SNIPPET_LANGUAGES, type SnippetLanguage, snippetText } from './snippet-text.ts'

/** How to point an SDK at this site, ready to copy. */
export function SdkSnippet({ address }: { address: string }): ReactElement {
  const { t } = useTranslation()
  const [language, setLanguage] = useState<SnippetLanguage>('python')
  const text = snippetText(language, address)
  return (
    <section className="tg-snippet" aria-label={t('home.snippetTitle')}>
      <header>
        <div>
          <h2>{t('home.snippetTitle')}</h2>
          <p>{t('home.snippetLead')}</p>
        </div>
        <CopyButton text={text} label={t('ui.copy')} />
      </header>
      <Tabs
        label={t('home.snippetTitle')}
        tabs={SNIPPET_LANGUAGES}
        chosen={language}
        onChoose={setLanguage}
      >
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is reached by keys */}
        <pre tabIndex={0}>
          <code>{text}</code>
        </pre>
      </Tabs>
    </section>
  )
}
