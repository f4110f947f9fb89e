// A checkout of Automattic composite-checkout; scripts/install-shops bundles it.
import { Button, CheckoutFormSubmit, CheckoutProvider, CheckoutStepBody, CheckoutStepGroup, PaymentMethodStep, checkoutTheme, makeSuccessResponse } from "@automattic/composite-checkout";
import { useEffect, useState } from "react";
import { createRoot } from "react-dom/client";

const money = (amount, sign) => `${sign}${amount.toFixed(2)}`;
const Pay = ({ disabled, onClick }) => <Button buttonType="primary" fullWidth disabled={disabled} onClick={() => onClick({})}>Pay now</Button>;
const card = { id: "card", paymentProcessorId: "card", label: <span>Credit card</span>, activeContent: <input aria-label="Cardholder" />, submitButton: <Pay />, getAriaLabel: () => "Credit card" };
const bank = { ...card, id: "bank", label: <span>Bank transfer</span>, getAriaLabel: () => "Bank transfer" };
const first = { items: [["WordPress.com Premium, one year", 96], ["Domain example.blog", 22]], sign: "$", note: "" };

const Shop = () => {
  const [order, setOrder] = useState(first);
  useEffect(() => {
    globalThis.changes = {
      total: () => setOrder({ ...first, items: [first.items[0], ["Domain example.blog", 222]] }),
      item: () => setOrder({ ...first, items: [...first.items, ["Professional Email, free trial", 0]] }),
      currency: () => setOrder({ ...first, sign: "C$" }),
      nothing: () => {},
    };
  }, []);
  const total = order.items.reduce((sum, [, price]) => sum + price, 0);
  return (
    <CheckoutProvider theme={checkoutTheme} paymentMethods={[card, bank]} selectFirstAvailablePaymentMethod
      paymentProcessors={{ card: async () => { document.title = "Paid"; return makeSuccessResponse({}); } }}>
      <CheckoutStepGroup>
        <CheckoutStepBody stepId="summary" isStepActive={false} isStepComplete titleContent="Your order"
          completeStepContent={<ul>{order.items.map(([name, price]) => <li key={name}>{name} <span>{money(price, order.sign)}</span></li>)}</ul>} />
        <PaymentMethodStep />
        <CheckoutFormSubmit submitButtonHeader={<p>Total <b>{money(total, order.sign)}</b></p>} />
      </CheckoutStepGroup>
    </CheckoutProvider>
  );
};
createRoot(document.querySelector("#root")).render(<Shop />);
