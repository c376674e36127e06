import type { ReactElement } from 'react'
import { useTranslation } from 'react-i18next'
import { CopyButton } from '#console/ui/copy-button.tsx'

/** Code as it was written, with its language and a way to take it along. */
export function CodeBlock(props: { code: string; language: string }): ReactElement {
  const { t } = useTranslation()
  return (
    <div className="tg-code">
      <div className="tg-code-head">
        <span>{props.language.split(/\s/)[0] || t('playground.code')}</span>
        <CopyButton text={props.code} label={t('playground.copyCode')} />
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by key */}
      <pre tabIndex={0}>
        <code>{props.code}</code>
      </pre>
    </div>
  )
}
