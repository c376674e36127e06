import { type ReactElement, useId } from 'react'
import { useTranslation } from 'react-i18next'
import { Button } from '#console/ui/button.tsx'
import { copyText } from '#console/ui/copy-text.ts'
import { Overlay } from '#console/ui/overlay.tsx'
import { useSiteName } from '#console/ui/page.tsx'
import { showSuccess } from '#console/ui/toast.ts'

/** Recovery codes, this once. Closed by its button alone, or they would be gone by a slip. */
export function CodesDialog(props: {
  codes: readonly string[]
  onClose: () => void
}): ReactElement {
  const { t } = useTranslation()
  const site = useSiteName()
  const id = useId()
  const text = `${props.codes.join('\n')}\n`
  const copy = async () => {
    if (await copyText(text)) showSuccess(t('security.codesCopied'))
  }
  return (
    <Overlay isOpen onClose={() => {}} labelledBy={id} className="tg-dialog">
      <h2 id={id}>{t('security.recovery')}</h2>
      <div className="tg-dialog-body">
        <p>{t('security.codesLead')}</p>
        <ul className="tg-me-codes tg-mono">
          {props.codes.map((code) => (
            <li key={code}>{code}</li>
          ))}
        </ul>
        <div className="tg-actions">
          <Button size="small" icon="copy" onClick={() => void copy()}>
            {t('security.copyCodes')}
          </Button>
          <Button size="small" icon="download" onClick={() => save(`${site} recovery.txt`, text)}>
            {t('security.downloadCodes')}
          </Button>
        </div>
      </div>
      <div className="tg-dialog-foot">
        <Button tone="primary" onClick={props.onClose}>
          {t('security.codesKept')}
        </Button>
      </div>
    </Overlay>
  )
}

function save(name: string, text: string): void {
  const address = URL.createObjectURL(new Blob([text], { type: 'text/plain' }))
  const link = document.createElement('a')
  link.href = address
  link.download = name
  link.click()
  URL.revokeObjectURL(address)
}
