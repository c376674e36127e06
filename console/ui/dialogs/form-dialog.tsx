import { type ReactNode, useEffect, useRef } from 'react'
import { useTranslation } from 'react-i18next'
import { currentScratchCopy } from '#console/api/scratch-copy.ts'
import { Button } from '../elements/button.tsx'
import type { DraftForm } from '../forms/use-draft-form.ts'
import { focusFirstError } from '../forms/use-submit.ts'
import { Dialog } from './dialog.tsx'

const FIELDS = ':is(input, select, textarea):enabled:not([readonly], [type="hidden"])'

const focusFirstField = (panel: HTMLElement): void =>
  panel.querySelector<HTMLElement>(FIELDS)?.focus({ preventScroll: true })

/**
 * A dialog with a short form, which Enter submits. A long form belongs in a `FormDrawer`. While a
 * scratch copy (the site as of an earlier time) is open, the form can't be submitted.
 */
export function FormDialog(props: {
  isOpen: boolean
  title: string
  lead?: ReactNode
  className?: string
  role?: 'dialog' | 'alertdialog'
  submitText: string
  tone?: 'primary' | 'danger'
  isDisabled?: boolean
  form: Pick<DraftForm<object>, 'isBusy' | 'submit' | 'close'>
  /** Called when the user closes the dialog. By default, `form.close` is called. */
  onClose?: () => void
  children: ReactNode
}) {
  const { t } = useTranslation()
  const element = useRef<HTMLFormElement>(null)
  const { isBusy, submit, close } = props.form
  const onClose = props.onClose ?? close
  const isDisabled = props.isDisabled === true || currentScratchCopy() !== null
  const wasBusy = useRef(false)
  useEffect(() => {
    if (wasBusy.current && !isBusy) focusFirstError(element)
    wasBusy.current = isBusy
  }, [isBusy])
  return (
    <Dialog
      isOpen={props.isOpen}
      title={props.title}
      lead={props.lead}
      className={`tg-form-dialog ${props.className ?? ''}`}
      role={props.role ?? 'dialog'}
      onOpened={focusFirstField}
      onClose={onClose}
    >
      <form
        ref={element}
        className="tg-form"
        noValidate
        onSubmit={(event) => {
          event.preventDefault()
          if (!isDisabled) submit()
        }}
      >
        {props.children}
        <div className="tg-dialog-foot">
          <Button onClick={onClose}>{t('ui.cancel')}</Button>
          <Button
            type="submit"
            tone={props.tone ?? 'primary'}
            isBusy={isBusy}
            isDisabled={isDisabled}
          >
            {props.submitText}
          </Button>
        </div>
      </form>
    </Dialog>
  )
}
