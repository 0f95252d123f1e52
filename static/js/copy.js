// Buttons that copy the text of the field they name; without scripts the field can be selected by hand.
(() => {
  "use strict";
  for (const button of document.querySelectorAll("[data-copy]")) {
    const field = document.getElementById(button.dataset.copy);
    const label = button.textContent;
    button.hidden = false;
    button.addEventListener("click", async () => {
      field.select();
      try {
        await navigator.clipboard.writeText(field.value);
        button.textContent = "Copied";
      } catch {
        button.textContent = "Selected"; // without HTTPS a browser lets no script write: copy it by key
      }
      setTimeout(() => (button.textContent = label), 2000);
    });
  }
})();
