import { type ReactNode, useId } from 'react'
import { useTranslation } from 'react-i18next'
import { Overlay } from '#console/ui/dialogs/overlay.tsx'
import { Button } from '#console/ui/elements/button.tsx'
import { CopyButton } from '#console/ui/elements/copy-button.tsx'

export function TaskDialogFrame(props: {
  title: string
  isWide?: boolean
  onClose: () => void
  children: ReactNode
}) {
  const { t } = useTranslation()
  const id = useId()
  return (
    <Overlay
      isOpen
      onClose={props.onClose}
      labelledBy={id}
      className={props.isWide === true ? 'tg-dialog tg-task-wide' : 'tg-dialog tg-task-dialog'}
    >
      <div className="tg-task-head">
        <h2 id={id}>{props.title}</h2>
        <Button tone="quiet" icon="close" label={t('ui.close')} onClick={props.onClose} />
      </div>
      {props.children}
    </Overlay>
  )
}

export function CopyableText(props: { name: string; text: string }) {
  const { t } = useTranslation()
  if (props.text === '') return null
  return (
    <section className="tg-task-part">
      <h3>
        {props.name}
        <CopyButton text={props.text} label={t('taskLogs.copyText', { name: props.name })} />
      </h3>
      <p>{props.text}</p>
    </section>
  )
}
