import { type ReactElement, type ReactNode, useId } from 'react'
import { useTranslation } from 'react-i18next'
import { Button } from './button.tsx'
import { Overlay } from './overlay.tsx'

export type ConfirmWords = {
  title: string
  body?: ReactNode
  confirmText?: string
  cancelText?: string
  tone?: 'primary' | 'danger'
}

/** A question with two answers. For most uses, `confirm()` is shorter. */
export function ConfirmDialog(
  props: ConfirmWords & { isOpen: boolean; onConfirm: () => void; onCancel: () => void },
): ReactElement {
  const { t } = useTranslation()
  const id = useId()
  return (
    <Overlay
      isOpen={props.isOpen}
      onClose={props.onCancel}
      labelledBy={id}
      describedBy={`${id}-body`}
      role="alertdialog"
      className="tg-dialog"
    >
      <h2 id={id}>{props.title}</h2>
      <div id={`${id}-body`} className="tg-dialog-body">
        {props.body}
      </div>
      <div className="tg-dialog-foot">
        <Button onClick={props.onCancel}>{props.cancelText ?? t('ui.cancel')}</Button>
        <Button tone={props.tone ?? 'primary'} onClick={props.onConfirm}>
          {props.confirmText ?? t('ui.confirm')}
        </Button>
      </div>
    </Overlay>
  )
}
