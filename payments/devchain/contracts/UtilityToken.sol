// SPDX-License-Identifier: MIT
pragma solidity ^0.8.20;

/// The token whose holding and staking give a tier. Anybody may mint.
contract UtilityToken {
    string public constant name = "Tablewire";
    string public constant symbol = "TABLE";
    uint8 public constant decimals = 18;

    uint256 public totalSupply;
    mapping(address => uint256) public balanceOf;
    mapping(address => mapping(address => uint256)) public allowance;
    /// What an owner has put aside by `stake`; it is not in the owner's balance.
    mapping(address => uint256) public stakedOf;

    event Transfer(address indexed from, address indexed to, uint256 value);
    event Approval(address indexed owner, address indexed spender, uint256 value);
    event Staked(address indexed owner, uint256 value);
    event Unstaked(address indexed owner, uint256 value);

    function mint(address to, uint256 value) external returns (bool) {
        require(to != address(0), "ERC20: mint to the zero address");
        totalSupply += value;
        balanceOf[to] += value;
        emit Transfer(address(0), to, value);
        return true;
    }

    function transfer(address to, uint256 value) external returns (bool) {
        _transfer(msg.sender, to, value);
        return true;
    }

    function approve(address spender, uint256 value) external returns (bool) {
        allowance[msg.sender][spender] = value;
        emit Approval(msg.sender, spender, value);
        return true;
    }

    function transferFrom(address from, address to, uint256 value) external returns (bool) {
        uint256 allowed = allowance[from][msg.sender];
        require(value <= allowed, "ERC20: transfer amount exceeds allowance");
        allowance[from][msg.sender] = allowed - value;
        _transfer(from, to, value);
        return true;
    }

    function stake(uint256 value) external {
        _transfer(msg.sender, address(this), value);
        stakedOf[msg.sender] += value;
        emit Staked(msg.sender, value);
    }

    function unstake(uint256 value) external {
        require(value <= stakedOf[msg.sender], "Tablewire: more than is staked");
        stakedOf[msg.sender] -= value;
        _transfer(address(this), msg.sender, value);
        emit Unstaked(msg.sender, value);
    }

    function _transfer(address from, address to, uint256 value) private {
        require(to != address(0), "ERC20: transfer to the zero address");
        require(value <= balanceOf[from], "ERC20: transfer amount exceeds balance");
        balanceOf[from] -= value;
        balanceOf[to] += value;
        emit Transfer(from, to, value);
    }
}
