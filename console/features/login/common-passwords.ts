/** Common passwords in lower case, including the default passwords of similar products. */
const COMMON: ReadonlySet<string> = new Set(
  `
    123456 12345678 123456789 1234567890 0123456789 987654321 87654321 11111111 00000000
    88888888 66666666 12341234 11223344 147258369 123123123 1q2w3e4r 1qaz2wsx qwertyui
    qwertyuiop qwerty123 asdfghjkl zxcvbnm123 abcd1234 abc12345 a1234567 a12345678 aa123456
    iloveyou password password1 password123 passw0rd p@ssw0rd p@ssword admin123 admin1234
    admin888 admin123456 administrator root1234 root12345 root123456 rootroot changeme
    letmein123 welcome1 welcome123 sunshine princess football superman default1 tallygate
  `
    .trim()
    .split(/\s+/),
)

export const isCommonPassword = (password: string): boolean => COMMON.has(password.toLowerCase())
