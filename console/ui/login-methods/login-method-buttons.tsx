import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import type { OAuthType } from '#write-api/contract/oauth.ts'
import { Button } from '../elements/button.tsx'
import { showError } from '../messages/toast.ts'
import { LOGIN_METHOD_ICONS, type LoginMethod } from './login-methods.ts'
import { isMessenger, type Messenger } from './messenger-dialog.tsx'

/** A button that redirects is busy until the tab navigates. */
export function LoginMethodButtons(props: {
  ways: readonly LoginMethod[]
  leave: (type: OAuthType) => Promise<void>
  onMessenger?: (way: Messenger) => void
}) {
  const { ways, leave, onMessenger } = props
  const { t } = useTranslation()
  const [away, setAway] = useState<LoginMethod | null>(null)
  const select = async (way: LoginMethod): Promise<void> => {
    if (isMessenger(way)) return onMessenger?.(way)
    setAway(way)
    try {
      await leave(way)
    } catch (error) {
      showError(error)
      setAway(null)
    }
  }
  return (
    <>
      {ways.map((way) => (
        <Button
          key={way}
          isFill
          size="large"
          icon={LOGIN_METHOD_ICONS[way]}
          isBusy={away === way}
          isDisabled={away !== null && away !== way}
          onClick={() => void select(way)}
        >
          {t('oauth.signInWith', { site: t(`oauth.siteInSentence.${way}`) })}
        </Button>
      ))}
    </>
  )
}
