/** Buttons. One that cannot be pressed stays focusable and says why. */
import type { ComponentChildren } from "preact"
import { Icon, type IconName } from "../marks/icon.tsx"

interface ButtonProps {
  readonly onPress: () => void
  readonly icon?: IconName
  readonly tone?: "first" | "danger" | "quiet" | undefined
  readonly small?: boolean
  /** Why it cannot be pressed. */
  readonly refusal?: string | undefined
  readonly type?: "button" | "submit"
  readonly expanded?: boolean
  readonly children: ComponentChildren
}

export function Button({
  onPress,
  icon,
  tone,
  small,
  refusal,
  type = "button",
  expanded,
  children,
}: ButtonProps) {
  const classes = ["button", tone && `button-${tone}`, small && "button-small"].filter(Boolean).join(" ")
  return (
    <button
      type={refusal === undefined ? type : "button"}
      class={classes}
      aria-disabled={refusal !== undefined}
      aria-expanded={expanded}
      title={refusal}
      onClick={() => refusal === undefined && onPress()}
    >
      {icon && <Icon name={icon} small />}
      {children}
    </button>
  )
}

interface IconButtonProps {
  readonly icon: IconName
  readonly label: string
  readonly onPress: () => void
  readonly refusal?: string | undefined
  readonly small?: boolean
}

export function IconButton({ icon, label, onPress, refusal, small }: IconButtonProps) {
  return (
    <button
      type="button"
      class={small ? "icon-button icon-button-small" : "icon-button"}
      aria-label={label}
      title={refusal ?? label}
      aria-disabled={refusal !== undefined}
      onClick={() => refusal === undefined && onPress()}
    >
      <Icon name={icon} />
    </button>
  )
}
