import { useTranslation } from 'react-i18next'

export function SkipLink() {
  const { t } = useTranslation()
  return (
    <a className="tg-skip" href="#main">
      {t('shell.skip')}
    </a>
  )
}
