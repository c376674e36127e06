import type { ReactElement, ReactNode, RefObject } from 'react'
import { useTranslation } from 'react-i18next'
import { Button } from './button.tsx'
import { Drawer } from './drawer.tsx'
import { mayLeave } from './may-leave.ts'

/** A drawer around one form: Enter submits it, and changes are not given up unasked. */
export function FormDrawer(props: {
  isOpen: boolean
  title: string
  lead: string
  /** Pixels, as of a drawer. */
  width?: number
  submitText: string
  form: RefObject<HTMLFormElement | null>
  isChanged: boolean
  isBusy?: boolean
  onSubmit: () => void
  onClose: () => void
  children: ReactNode
}): ReactElement {
  const { t } = useTranslation()
  const cancel = async () => {
    if (await mayLeave(props.isChanged)) props.onClose()
  }
  return (
    <Drawer
      isOpen={props.isOpen}
      onClose={props.onClose}
      title={props.title}
      lead={props.lead}
      {...(props.width === undefined ? {} : { width: props.width })}
      hasUnsavedChanges={props.isChanged}
      footer={
        <>
          <Button onClick={() => void cancel()}>{t('ui.cancel')}</Button>
          <Button tone="primary" isBusy={props.isBusy === true} onClick={props.onSubmit}>
            {props.submitText}
          </Button>
        </>
      }
    >
      <form
        ref={props.form}
        className="tg-form"
        noValidate
        onSubmit={(event) => {
          event.preventDefault()
          props.onSubmit()
        }}
      >
        {props.children}
        <button type="submit" hidden aria-hidden="true" tabIndex={-1} />
      </form>
    </Drawer>
  )
}
